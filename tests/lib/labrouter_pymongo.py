"""What live/test_labrouter.py has pymongo do with a router of the shards s0 and s1: labrouter_pymongo.py PORT"""
import sys

import pymongo
from bson import MaxKey, MinKey

client = pymongo.MongoClient("mongodb://127.0.0.1:%s/" % sys.argv[1], retryWrites=True)
admin, tests = client.admin, client.mot.tests
admin.command("ping")
assert client.topology_description.topology_type_name == "Sharded"
admin.command("enableSharding", "mot", primaryShard="s0")
admin.command("shardCollection", "mot.tests", key={"_id": 1})
admin.command("split", "mot.tests", middle={"_id": 0})
admin.command("moveChunk", "mot.tests", bounds=[{"_id": 0}, {"_id": MaxKey()}], to="s1")
assert len(tests.insert_many([{"_id": number, "k": number % 7} for number in range(-500, 500)], ordered=False).inserted_ids) == 1000
try:
    tests.insert_many([{"_id": number} for number in (1000, -5, 5, 1001)], ordered=False)
    raise AssertionError("duplicates went in")
except pymongo.errors.BulkWriteError as error:
    assert error.details["nInserted"] == 2 and [each["index"] for each in error.details["writeErrors"]] == [1, 2]
assert tests.count_documents({}) == tests.estimated_document_count() == 1002
assert tests.distinct("k") == list(range(7))
assert sum(1 for _ in tests.find(batch_size=10)) == 1002
assert tests.update_many({"k": 3}, {"$set": {"x": 1}}).modified_count == 142
assert tests.delete_many({"k": 4}).deleted_count == 143
found = {each["_id"]: each["n"] for each in tests.aggregate([{"$group": {"_id": "$x", "n": {"$sum": 1}}}])}
assert found == {1: 142, None: 717}, found
assert tests.create_index("k") in [each["name"] for each in tests.list_indexes()]
config = client.config.get_collection("collections", write_concern=pymongo.WriteConcern("majority"))
assert config.update_one({"_id": "mot.tests"}, {"$set": {"noBalance": True}}).modified_count == 1
for number in (1, 2, 3):
    assert client.mot.counters.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}}, upsert=True, return_document=True)["n"] == number
with client.start_session() as session:
    try:
        with session.start_transaction():
            tests.insert_one({"_id": 77777}, session=session)
        raise AssertionError("a transaction was taken")
    except pymongo.errors.OperationFailure as error:
        assert error.code == 115
assert MinKey() == client.config.chunks.find_one({}, sort=[("min", 1)])["min"]["_id"]
client.drop_database("mot")
assert "mot" not in client.list_database_names()
