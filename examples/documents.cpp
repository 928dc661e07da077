// Pushes BSON documents with `_id`s of their own:
//     c++ documents.cpp -o documents $(pkg-config --cflags --libs tipple libbson-1.0)    # driver 2: bson2
//     ./documents mongodb://127.0.0.1/shop.numbers 1000
#include <bson/bson.h>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <tipple/tipple.h>

class Load {
  public:
    explicit Load(const std::string &uri) : load(tipple_load_new(uri.c_str(), &error), tipple_load_destroy) {
        must(load != nullptr);
    }
    void set(const char *option, const std::string &value) {
        must(tipple_load_set(load.get(), option, value.c_str(), &error));
    }
    void push(const bson_t *document) {
        must(tipple_load_push_document(load.get(), bson_get_data(document), document->len, &error));
    }
    const tipple_result_t &finish() {
        must(tipple_load_finish(load.get(), &error));
        return *tipple_load_result(load.get());
    }

  private:
    void must(bool ok) const {
        if (!ok)
            throw std::runtime_error(error.text);
    }
    tipple_error_t error{};
    std::unique_ptr<tipple_load_t, void (*)(tipple_load_t *)> load;
};

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: documents URI COUNT\n");
        return 1;
    }
    try {
        Load load(argv[1]);
        load.set("input-name", "numbers up to " + std::string(argv[2]));
        for (int i = 0; i < std::stoi(argv[2]); i++) {
            bson_t document = BSON_INITIALIZER;
            BSON_APPEND_INT32(&document, "_id", i);
            BSON_APPEND_INT64(&document, "square", int64_t(i) * i);
            load.push(&document);
            bson_destroy(&document);
        }
        const tipple_result_t &result = load.finish();
        std::printf("loaded %llu, there before %llu\n", (unsigned long long)result.loaded,
                    (unsigned long long)result.records_skipped);
        return result.status;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
