"""shapes: made-up documents of the data sets of the compression study, as lines of JSON. Five have the keys of the
documents that the study shows, and values as repetitive as such values are: few carriers, airports and folders, words by
Zipf's law. The same bytes for the same seed."""
import base64
import datetime
import json
import random

SYLLABLES = ("an ar be co de di en er ex fa for ga in ing ion is ka la li lo ma me mi mo na ne no or pa pe po qu ra re ri "
             "ro sa se si so st ta ter ti to tra tu un ur ve vi").split()
START = datetime.datetime(2014, 1, 1, tzinfo=datetime.timezone.utc)


class Maker:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.words = ["".join(self.draw.choices(SYLLABLES, k=self.draw.randint(1, 4))) for _ in range(5000)]
        self.weights = [1 / rank for rank in range(1, len(self.words) + 1)]
        total = 0
        self.sums = [total := total + weight for weight in self.weights]

    def text(self, count):
        return " ".join(self.draw.choices(self.words, cum_weights=self.sums, k=count))

    def name(self):
        return "%s %s" % (self.draw.choice(self.words).title(), self.draw.choice(self.words).title())

    def one_of(self, items):
        """The first ones are more frequent."""
        return items[min(int(self.draw.expovariate(4 / len(items))), len(items) - 1)]

    def oid(self, number):
        return {"$oid": "%08x%010x%06x" % (0x53d81b73 + number // 1000, 0x4aaa385639, number % (1 << 24))}

    def moment(self, minutes):
        return {"$date": (START + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")}


def mail(make, number, shared):
    if not shared:
        shared.update(people=[make.name() for _ in range(2000)], folders=[make.text(1) for _ in range(60)])
    sender, receiver = make.one_of(shared["people"]), make.one_of(shared["people"])
    folder = make.one_of(shared["folders"])
    address = {one: one.lower().replace(" ", ".") + "@example.com" for one in (sender, receiver)}
    return {"_id": make.oid(number), "body": "\n".join(make.text(12) for _ in range(make.draw.randint(2, 40))),
            "subFolder": folder, "mailbox": receiver.split()[1].lower() + "-" + receiver[0].lower(),
            "filename": "%d." % (number % 900),
            "headers": {"X-cc": "", "From": address[sender], "Subject": make.text(5),
                        "X-Folder": "\\%s_Dec2000\\Notes Folders\\%s" % (receiver.replace(" ", "_"), folder),
                        "Content-Transfer-Encoding": "7bit", "X-bcc": "", "To": address[receiver],
                        "X-Origin": receiver.split()[1], "X-FileName": receiver.split()[1].lower() + ".nsf",
                        "X-From": sender, "Date": "Tue, %d Nov 2000 %02d:%02d:00 -0800 (PST)" % (
                            1 + number % 28, number % 24, number % 60), "X-To": receiver,
                        "Message-ID": "<%d.%d.JavaMail.evans@thyme>" % (make.draw.randrange(10**7), 1075854677416 + number),
                        "Content-Type": "text/plain; charset=us-ascii", "Mime-Version": "1.0"}}


def flights(make, number, shared):
    if not shared:
        states = [(make.text(1).title(), index) for index in range(1, 51)]
        shared["carriers"] = [("%s%s" % (make.draw.choice("ABDUW"), make.draw.choice("AELNS")), 19000 + n) for n in range(14)]
        shared["airports"] = []
        for index in range(300):
            state, fips = make.one_of(states)
            shared["airports"].append({
                "airport_seq_id": 1000001 + 100 * index, "name": "%03X" % (0xA00 + index), "wac": fips + 10,
                "state_fips": fips, "airport_id": 10000 + index, "state_abr": state[:2].upper(),
                "city_name": "%s, %s" % (make.text(1).title(), state[:2].upper()), "city_market_id": 30000 + index,
                "state_nm": state})
    origin, dest = (dict(make.one_of(shared["airports"])) for _ in range(2))
    del dest["name"]
    carrier, airline = make.one_of(shared["carriers"])
    leaves = (number % 365) * 1440 + make.draw.randrange(300, 1380)
    late, lasts, taxi = int(make.draw.expovariate(0.1)) - 5, make.draw.randrange(40, 400), make.draw.randrange(5, 30)

    def end(at, delay):
        return {"delay_group": delay // 15, "time": make.moment(at + delay), "del15": int(delay >= 15), "delay": delay,
                "delay_new": max(delay, 0), "time_blk": "%02d00-%02d59" % (at // 60 % 24, at // 60 % 24)}
    return {"_id": make.oid(number), "origin": origin, "arr": end(leaves + lasts, late - 1),
            "crs_arr_time": make.moment(leaves + lasts), "delays": {"dep": late, "arr": late - 1}, "taxi_in": taxi // 3,
            "distance_group": lasts // 40, "fl_date": make.moment(leaves // 1440 * 1440), "actual_elapsed_time": lasts - 1,
            "wheels_off": make.moment(leaves + late + taxi), "fl_num": 1 + number % 6000, "div_airport_landings": 0,
            "diverted": 0, "wheels_on": make.moment(leaves + late + lasts - 6), "crs_elapsed_time": lasts, "dest": dest,
            "crs_dep_time": make.moment(leaves), "cancelled": int(make.draw.random() < 0.02), "unique_carrier": carrier,
            "taxi_out": taxi, "tail_num": "N%03dAA" % make.draw.randrange(1000), "air_time": lasts - taxi, "carrier": carrier,
            "airline_id": airline, "dep": end(leaves, late), "distance": lasts * 7}


def config(make, number, shared):
    if not shared:
        shared.update(names=["%s.%s" % (make.text(1), make.text(1)) for _ in range(12)], keys=sorted(
            "%s %s" % (make.text(1), make.text(1)) for _ in range(20000)))
    keys, place = shared["keys"], number % 20000
    name = shared["names"][number // 2000 % 12]
    return {"_id": "%s-animal_\"%s\"%d" % (name, keys[place], number), "lastmod": {"$timestamp": {"t": 1000 + number // 500, "i": number % 500}},
            "lastmodEpoch": {"$oid": "5078407bd58b175c5c225f%02x" % (number // 2000 % 12)}, "ns": name,
            "min": {"animal": keys[place]}, "max": {"animal": keys[(place + 1) % 20000]},
            "shard": "shard%04d" % make.draw.randrange(12)}


def orders(make, number, shared):
    draw = make.draw
    items = []
    for line in range(1, draw.randint(1, 7) + 1):
        price = draw.randrange(90000, 9000000) / 100
        items.append({"lineitem": line, "mfgr": "Manufacturer#%d" % draw.randint(1, 5), "brand": "Brand#%d%d" % (
            draw.randint(1, 5), draw.randint(1, 5)), "type": " ".join(draw.choice(words.split()) for words in (
                "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO", "ANODIZED BURNISHED PLATED POLISHED BRUSHED",
                "TIN NICKEL BRASS STEEL COPPER")), "container": "%s %s" % (
                    draw.choice("SM LG MED JUMBO WRAP".split()), draw.choice("CASE BOX BAG JAR PKG PACK CAN DRUM".split())),
            "quantity": draw.randint(1, 50), "returnflag": draw.choice("NRA"), "linestatus": draw.choice("OF"),
            "extprice": price, "discount": draw.randint(0, 10) / 100,
            "shipinstr": draw.choice(("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")),
            "realPrice": round(price * (1 - draw.randint(0, 10) / 100), 4),
            "shipmode": draw.choice("REG AIR RAIL SHIP TRUCK MAIL FOB".split()),
            "commitDate": make.moment(1440 * draw.randrange(2500)), "shipDate": make.moment(1440 * draw.randrange(2500)),
            "receiptDate": make.moment(1440 * draw.randrange(2500)), "tax": draw.randint(0, 8) / 100,
            "size": draw.randint(1, 50), "nation": draw.choice(("UNITED KINGDOM", "FRANCE", "GERMANY", "CHINA", "PERU", "KENYA")),
            "region": draw.choice(("EUROPE", "ASIA", "AMERICA", "AFRICA", "MIDDLE EAST"))})
    return {"_id": number + 1, "cname": "Customer#%09d" % draw.randrange(100000), "status": draw.choice("OFP"),
            "totalprice": round(sum(item["realPrice"] for item in items), 2),
            "orderdate": make.moment(1440 * draw.randrange(2500)), "comment": make.text(draw.randint(3, 10)),
            "lineitems": items}


def tweets(make, number, shared):
    draw = make.draw
    if not shared:
        shared["users"] = [{
            "profile_sidebar_border_color": "C0DEED", "name": make.name(), "profile_sidebar_fill_color": "DDEEF6",
            "profile_background_tile": False, "profile_image_url": "http://example.com/images/%d.png" % index,
            "location": make.text(1).title(), "created_at": "Fri April %02d 16:02:46 +0000 2008" % (1 + index % 28),
            "id_str": str(10**8 + index), "follow_request_sent": False, "profile_link_color": draw.choice(("0084B4", "2FC2EF", "1F98C7")),
            "favourites_count": int(draw.expovariate(0.01)), "url": "http://example.com/%s" % make.text(1) if index % 2 else None,
            "contributors_enabled": False, "utc_offset": draw.choice((-25200, -18000, 0, 3600, 32400)), "id": 10**8 + index,
            "profile_use_background_image": True, "listed_count": int(draw.expovariate(0.1)), "protected": False,
            "lang": draw.choice(("en", "en", "en", "es", "ja", "pt")), "profile_text_color": "333333",
            "followers_count": draw.randrange(5000), "time_zone": draw.choice(("Eastern Time (US & Canada)", "London", "Tokyo")),
            "verified": False, "geo_enabled": draw.random() < 0.3, "profile_background_color": "C0DEED", "notifications": False,
            "description": make.text(draw.randint(0, 20)), "friends_count": draw.randrange(2000),
            "profile_background_image_url": "http://example.com/themes/%d.png" % draw.randrange(20),
            "statuses_count": draw.randrange(20000), "screen_name": make.text(1) + str(index), "following": False,
            "show_all_inline_media": False} for index in range(20000)]
    user, other = make.one_of(shared["users"]), make.one_of(shared["users"])
    return {"_id": make.oid(number), "coordinates": None, "created_at": "Fri April %02d %02d:%02d:46 +0000 2010" % (
        1 + number % 28, number % 24, number % 60), "favorited": False, "truncated": False, "id_str": str(12 * 10**9 + number),
        "entities": {"urls": [{"expanded_url": None, "url": "http://example.com/%x" % draw.randrange(2**30), "indices": [69, 100]}]
                     if draw.random() < 0.3 else [], "hashtags": [],
                     "user_mentions": [{"name": other["name"], "id_str": other["id_str"], "id": other["id"], "indices": [25, 30],
                                        "screen_name": other["screen_name"]}] if draw.random() < 0.5 else []},
        "in_reply_to_user_id_str": None, "text": make.text(draw.randint(4, 18))[:140], "contributors": None,
        "id": 12 * 10**9 + number, "retweet_count": int(draw.expovariate(0.5)), "in_reply_to_status_id_str": None, "geo": None,
        "retweeted": draw.random() < 0.1, "in_reply_to_user_id": None, "user": user, "in_reply_to_screen_name": None,
        "in_reply_to_status_id": None, "source": draw.choice(("web", "<a href=\"http://example.com\">client</a>")), "place": None}


# name: how one is made, documents at scale 1, an index that such a collection would have
def random_bytes(make, number, shared):
    """As images and archives are, which are compressed already."""
    return {"_id": make.oid(number), "n": number,
            "data": {"$binary": {"base64": base64.b64encode(make.draw.randbytes(2000)).decode(), "subType": "00"}}}


SETS = {"mail": (mail, 60_000, "headers.From:1"), "flights": (flights, 90_000, "origin.name:1,dest.city_name:1,fl_date:1"),
        "configuration": (config, 240_000, "ns:1,min:1"), "orders": (orders, 60_000, "cname:1,orderdate:1"),
        "tweets": (tweets, 80_000, "user.screen_name:1,created_at:1"), "random": (random_bytes, 20_000, "n:1")}


def write(name, count, path):
    make, shared, one = Maker(7), {}, SETS[name][0]
    part = path.with_suffix(".part")
    with open(part, "w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps(one(make, number, shared), ensure_ascii=False) + "\n")
    part.rename(path)
