"""OpenStack Swift with its S3 interface, as one process on one disk folder: accounts, containers, objects and the proxy.

Called with a folder, an access key of the form account:user, and a secret key. Prints `ready <port>`.
"""
import os
import sys

# One thread alone writes and reads files. With more, a read that coincides with the cleaning after a write finds no file: where each object
# is on several disks, as in an installation, the proxy then asks the next one.
os.environ["EVENTLET_THREADPOOL_SIZE"] = "0"

import eventlet

eventlet.monkey_patch()

from eventlet import listen, wsgi
from paste.deploy import loadapp
from swift.common import utils
from swift.common.ring import RingBuilder

folder, access_key, secret_key = sys.argv[1:4]
devices = os.path.join(folder, "devices")

# An installation has them in /etc/swift.
utils.HASH_PATH_SUFFIX = utils.HASH_PATH_PREFIX = b"spec"

DEFAULTS = """[DEFAULT]
swift_dir = %s
devices = %s
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
log_level = ERROR
""" % (folder, devices)

STORAGE = """[pipeline:main]
pipeline = server
[app:server]
use = egg:swift#%s
"""

PROXY = """[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_%s = %s .admin
""" % (access_key.replace(":", "_"), secret_key) + "".join(
    "[filter:%s]\nuse = egg:swift#%s\n" % (name, name)
    for name in ("catch_errors", "gatekeeper", "listing_formats", "copy", "slo", "dlo")
)


class Cache(dict):
    """What Swift asks of memcached."""

    def __bool__(self):
        return True

    def get(self, key, **_options):
        return super().get(key)

    def set(self, key, value, **_options):
        self[key] = value

    def delete(self, key, **_options):
        self.pop(key, None)

    def incr(self, key, delta=1, **_options):
        self[key] = self.get(key) or 0
        self[key] += delta
        return self[key]


class Silence:
    def write(self, _text):
        pass

    def flush(self):
        pass


def application(name, text):
    path = os.path.join(folder, name + ".conf")
    with open(path, "w") as file:
        file.write(DEFAULTS + text)
    return loadapp("config:" + path)


def make_ring(name, port):
    builder = RingBuilder(1, 1, 0)
    builder.add_dev(
        {"id": 0, "region": 1, "zone": 1, "weight": 1, "device": "disk", "ip": "127.0.0.1", "port": port,
         "replication_ip": "127.0.0.1", "replication_port": port}
    )
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + ".ring.gz"))


os.makedirs(os.path.join(devices, "disk"))
sockets = {name: listen(("127.0.0.1", 0)) for name in ("account", "container", "object")}
for name, socket in sockets.items():
    make_ring(name, socket.getsockname()[1])
for name, socket in sockets.items():
    eventlet.spawn(wsgi.server, socket, application(name, STORAGE % name), Silence(), log_output=False)

proxy = application("proxy", PROXY)
cache = Cache()


def with_cache(environment, start_response):
    environment["swift.cache"] = cache
    return proxy(environment, start_response)


front = listen(("127.0.0.1", 0))
print("ready %d" % front.getsockname()[1], flush=True)
wsgi.server(front, with_cache, Silence(), log_output=False)
