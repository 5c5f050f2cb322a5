"""Tests of the Python package. `go test ./examples/python/tests` runs them with the program of numbers."""

import copy
import gc
import hashlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import numpy
import penstock

NUMBERS = [os.environ["PENSTOCK_NUMBERS"], "numbers"]
EXPECTED = json.loads(os.environ["PENSTOCK_EXPECTED"])
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SHARED = REPOSITORY.parent / "shared"
PHOTOS = REPOSITORY / "examples" / "images" / "photos"


def numbers(**flags):
    return penstock.Loader(NUMBERS, **flags)


def array(x):
    return numpy.asarray(x)


def right(batch):
    """Whether every sample of a batch holds its number, and nothing of another batch."""
    y, (text, ends), (points, cuts) = array(batch.y), batch.text, batch.points
    text, points = array(text), array(points)
    return (
        (array(batch.x) == y[:, None]).all()
        and (array(batch.even) == (y % 2 == 0)).all()
        and numpy.diff(array(ends)).tolist() == (y % 7).tolist()
        and (text == ord("x")).all()
        and numpy.diff(array(cuts)).tolist() == (1000 * (y % 5)).tolist()
        and (points == numpy.repeat(y, 1000 * (y % 5))[:, None]).all()
    )


def digest(batch):
    h = hashlib.sha256()
    for field in batch:
        h.update(array(field.values if isinstance(field, penstock.Ragged) else field).tobytes())
    return h.hexdigest()


def labels(loader):
    return [array(batch.y).tolist() for batch in loader]


def resident(pid):
    """Bytes of memory, of shared memory too."""
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def gone(pid, seconds=10):
    """Whether the process ends in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def python(text, **options):
    """Another Python that runs a script with these names."""
    begin = f"import os, signal, sys, time, penstock\nnumbers = lambda **flags: penstock.Loader({NUMBERS!r}, **flags)\n"
    return subprocess.Popen([sys.executable, "-c", begin + text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


class Data(unittest.TestCase):
    def test_batches_are_those_of_the_go_loop(self):
        for name, sums in EXPECTED.items():
            arguments, epoch = name.split(", epoch ")
            loader = penstock.Loader(NUMBERS + arguments.split())
            loader.set_epoch(int(epoch))
            self.assertEqual(len(loader), len(sums), name)
            self.assertEqual([digest(batch) for batch in loader], sums, name)

    def test_every_loop_is_over_the_next_epoch(self):
        loader = numbers(shuffle=True)
        first, second = labels(loader), labels(loader)
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(sum(first, [])), list(range(100)))
        loader.set_epoch(0)
        self.assertEqual(labels(loader), first)
        loader.set_epoch(1)
        self.assertEqual(labels(loader), second)

    def test_batches_are_named_tuples(self):
        batch = next(iter(numbers()))
        x, y, *_ = batch
        self.assertIs(x, batch.x)
        self.assertEqual(tuple(x.shape), (8, 4096))
        self.assertEqual((str(x.dtype), str(y.dtype)), ("torch.float32", "torch.int64") if penstock.torch else ("float32", "int64"))

    def test_the_program_of_the_readme_is_served(self):
        squares = {}
        for batch in penstock.Loader(os.environ["PENSTOCK_SQUARES"], n=500, batch_size=50):
            self.assertEqual(len(batch.number), 50)
            squares.update(zip(array(batch.number).tolist(), array(batch.square).tolist()))
        self.assertEqual(squares, {i: float(i * i) for i in range(500)})

    def test_tensors_lie_in_shared_memory(self):
        batch = next(iter(numbers()))
        at = batch.x.data_ptr() if penstock.torch else batch.x.__array_interface__["data"][0]
        for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
            begin, end = (int(text, 16) for text in line.split()[0].split("-"))
            if begin <= at < end:
                self.assertIn("/memfd:penstock", line)
                return
        self.fail("not mapped")

    @unittest.skipUnless(penstock.torch, "no PyTorch")
    def test_pin_memory_copies_where_there_is_an_accelerator(self):
        torch = penstock.torch
        for there in (True, False):
            pinned = []
            pin = lambda x: pinned.append(x) or x.clone()
            accelerator = "torch.accelerator.is_available" if hasattr(torch, "accelerator") else "torch.cuda.is_available"
            with unittest.mock.patch(accelerator, return_value=there), unittest.mock.patch.object(torch.Tensor, "pin_memory", pin):
                for batch in numbers(pin_memory=True):
                    self.assertTrue(right(batch))
            self.assertEqual(len(pinned), 13 * 12 if there else 0)  # values and offsets

    def test_tensors_can_be_changed(self):
        for batch in numbers():
            batch.x.__imul__(2)
            self.assertTrue((array(batch.x) == 2 * array(batch.y)[:, None]).all())


class Memory(unittest.TestCase):
    def test_kept_batches_stay_what_they_are(self):
        for options in ({}, {"copy": True}, {"slabs": 1, "num_workers": 0}, {"slabs": 2}, {"slabs": 30}):
            kept = [batch for batch in numbers(samples=200, **options)]
            self.assertEqual(len(kept), 25)
            for batch in kept:
                self.assertTrue(right(batch), options)

    def test_parts_of_batches_stay_what_they_are(self):
        loader = numbers(samples=400)
        rows = [batch.x[3][5:9] for batch in loader]
        points = [batch.points.values[-1:] for batch in loader]
        for k, row in enumerate(rows):
            self.assertEqual(array(row).tolist(), [8 * k + 3] * 4)
        self.assertEqual(len(points), 50)

    def test_they_outlive_loader_and_program(self):
        loader = numbers()
        kept = [batch for batch, _ in zip(loader, range(4))]
        pid = loader.info["pid"]
        loader.close()
        self.assertTrue(gone(pid))
        del loader
        gc.collect()
        self.assertTrue(all(map(right, kept)))

    def test_memory_does_not_grow(self):
        loader = numbers(samples=800)
        pid, sizes = loader.info["pid"], []
        for _ in range(40):
            for batch in loader:
                self.assertTrue(right(batch))
            sizes.append((resident(os.getpid()), resident(pid), len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{pid}/fd"))))
        for first, last in zip(sizes[20], sizes[-1]):
            self.assertLess(last, first + first // 10 + 4)

    def test_many_threads_let_go_of_batches(self):
        loader, threads = numbers(samples=2000, batch_size=4, slabs=12), []
        wrong = []

        def use(batch):
            time.sleep(0.001)
            if not right(batch):
                wrong.append(batch)

        for batch in loader:
            threads.append(threading.Thread(target=use, args=(batch,)))
            threads[-1].start()
            if len(threads) > 20:
                threads.pop(0).join()
        for thread in threads:
            thread.join()
        self.assertEqual(len(wrong), 0)


class Positions(unittest.TestCase):
    def test_a_loop_goes_on_where_another_one_was(self):
        whole = labels(numbers(shuffle=True))
        for k in range(len(whole) + 1):
            loader = numbers(shuffle=True)
            loop = iter(loader)
            for _ in range(k):
                next(loop)
            state = json.loads(json.dumps(loader.state_dict()))
            other = numbers(shuffle=True, num_workers=3, slabs=9)
            other.load_state_dict(state)
            self.assertEqual(labels(other), whole[k:])

    def test_after_the_epoch_comes_the_next_one(self):
        loader = numbers(shuffle=True)
        labels(loader)
        other = numbers(shuffle=True)
        other.load_state_dict(loader.state_dict())
        self.assertEqual(labels(other), labels(loader))

    def test_set_epoch_of_the_same_epoch_leaves_the_position(self):
        loader = numbers(shuffle=True)
        loop = iter(loader)
        next(loop)
        other = numbers(shuffle=True)
        other.load_state_dict(loader.state_dict())
        other.set_epoch(0)
        self.assertEqual(labels(other), labels(numbers(shuffle=True))[1:])
        other.load_state_dict(loader.state_dict())
        other.set_epoch(2)
        self.assertEqual(len(labels(other)), len(loader))

    def test_pickles_and_copies_go_on(self):
        loader = numbers(shuffle=True)
        rest = labels(numbers(shuffle=True))[2:]
        loop = iter(loader)
        next(loop), next(loop)
        for other in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
            self.assertEqual(labels(other), rest)
        self.assertEqual([array(batch.y).tolist() for batch in loop], rest)

    def test_another_seed_is_refused(self):
        loader = numbers(shuffle=True, seed=1)
        next(iter(loader))
        other = numbers(shuffle=True, seed=2)
        other.load_state_dict(loader.state_dict())
        with self.assertRaisesRegex(penstock.Error, "Seed"):
            next(iter(other))
        self.assertEqual(len(labels(other)), 13)


class Errors(unittest.TestCase):
    def test_they_come_in_their_place_and_name_the_sample(self):
        loader, seen = numbers(fail=20), []
        with self.assertRaisesRegex(penstock.Error, "sample 20, epoch 0, batch 2: number.txt: not a number") as raised:
            for batch in loader:
                seen.append(batch)
        self.assertEqual((len(seen), raised.exception.index), (2, 20))
        self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).index, 20)
        loader.set_epoch(5)
        with self.assertRaisesRegex(penstock.Error, "epoch 5"):
            labels(loader)

    def test_a_program_that_cannot_start_says_why(self):
        with self.assertRaisesRegex(penstock.Error, "ended with status 1: samples 0: want some"):
            numbers(samples=0)
        with self.assertRaisesRegex(penstock.Error, "flag provided but not defined: -colour"):
            numbers(colour="red")
        with self.assertRaisesRegex(FileNotFoundError, "want what go build has made, such as ./program: 'no-such-program'"):
            penstock.Loader("no-such-program")
        with self.assertRaisesRegex(penstock.Error, "true ended with status 0: no message: want a program that calls share.Serve"):
            penstock.Loader("true")

    def test_memory_that_is_not_shared_is_named(self):
        with self.assertRaisesRegex(penstock.Error, "not in the Memory that is served"):
            labels(numbers(wrong=True))

    def test_a_crash_shows_its_panic(self):
        with self.assertRaisesRegex(penstock.Error, "ended with status 2: panic: this program is to crash"):
            labels(numbers(panics=50))

    def test_a_killed_program_is_an_error_and_the_next_loop_starts_another(self):
        loader = numbers()
        kept, pid = [], loader.info["pid"]
        with self.assertRaisesRegex(penstock.Error, "ended with status -9"):
            for batch in loader:
                kept.append(batch)
                os.kill(pid, signal.SIGKILL)
        self.assertTrue(all(map(right, kept)))
        self.assertNotEqual(loader.info["pid"], pid)
        self.assertEqual(len(labels(loader)), 13)

    def test_a_line_that_is_cut_leaves_no_file_open(self):
        program = """if True:
            import socket
            reader = socket.socket(fileno=0)
            reader.recv(100)
            reader.sendall(b'{"names":[],"info":{}}\\n')
            reader.recv(100)
            reader.sendall(b'{"len":')"""
        before = len(os.listdir("/proc/self/fd"))
        loader = penstock.Loader([sys.executable, "-c", program])
        with self.assertRaisesRegex(penstock.Error, "ended with status 0"):
            len(loader)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Ends(unittest.TestCase):
    def test_break_and_exceptions_end_the_loop_only(self):
        loader = numbers(samples=1000)
        pid = loader.info["pid"]
        for _ in range(100):
            for batch in loader:
                self.assertTrue(right(batch))
                break
            with self.assertRaises(ZeroDivisionError):
                for batch in loader:
                    1 / 0
        self.assertEqual(loader.info["pid"], pid)
        self.assertEqual(len(labels(loader)), 125)

    def test_a_new_loop_ends_the_old_one(self):
        loader = numbers()
        old = iter(loader)
        next(old)
        self.assertEqual(len(labels(loader)), 13)
        with self.assertRaisesRegex(RuntimeError, "another loop"):
            next(old)

    def test_a_loader_that_is_dropped_ends_its_program(self):
        loader = numbers()
        next(iter(loader))
        pid = loader.info["pid"]
        del loader
        gc.collect()
        self.assertTrue(gone(pid))

    def test_python_that_ends_in_any_way_ends_the_program(self):
        for end, status in (("pass", 0), ("1 / 0", 1), ("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("os.kill(os.getpid(), 15)", -15)):
            p = python(f"""
l = numbers()
for batch in l:
    print(l.info["pid"], flush=True)
    {end}
    break
""")
            out, err = p.communicate(timeout=30)
            self.assertEqual(p.returncode, status, err)
            self.assertTrue(gone(int(out)), end)

    def test_a_program_that_hangs_ends_too(self):
        loader = numbers(hangs=20)
        pid, loop = loader.info["pid"], iter(loader)
        next(loop)
        loader.close()
        self.assertTrue(gone(pid, 30))

    def test_ctrl_c_is_pythons(self):
        p = python("""
l = numbers(samples=10**7)
print(l.info["pid"], flush=True)
try:
    for batch in l: pass
except KeyboardInterrupt:
    print("interrupted")
print(sum(1 for _, batch in zip(range(5), l)), l.info["pid"], flush=True)
""", start_new_session=True)
        self.addCleanup(p.kill)
        pid = int(p.stdout.readline())
        time.sleep(0.3)
        os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=30)
        text = out.split()
        self.assertEqual((p.returncode, text[:2]), (0, ["interrupted", "5"]), err)
        self.assertTrue(gone(pid) and gone(int(text[2])))


class Forks(unittest.TestCase):
    def test_the_child_keeps_the_batch_and_has_a_program_of_its_own(self):
        loader = numbers(samples=400, poison=False)
        loop = iter(loader)
        batch, expected = next(loop), labels(numbers(samples=400))
        loader.set_epoch(0)
        ready, go = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(go)
                os.read(ready, 1)  # until the parent has gone on
                with_own = labels(loader)
                os._exit(0 if right(batch) and with_own == expected else 1)
            except BaseException as e:
                print("child:", repr(e), file=sys.stderr)
                os._exit(2)
        os.close(ready)
        del batch
        self.assertEqual([array(b.y).tolist() for b in loop], expected[1:])
        self.assertEqual(labels(loader), expected)
        os.close(go)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_a_child_that_lives_on_does_not_keep_the_program(self):
        p = python("""
l = numbers()
for batch in l:
    child = os.fork()
    if child == 0:
        time.sleep(60)
    print(l.info["pid"], child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
""")
        pid, child = map(int, p.stdout.readline().split())
        try:
            self.assertTrue(gone(pid))
            self.assertFalse(gone(child, 0))
        finally:
            os.kill(child, signal.SIGKILL)
        p.communicate()


class Wheel(unittest.TestCase):
    def setUp(self):
        try:
            self.wheel = importlib.metadata.distribution("penstock")
        except importlib.metadata.PackageNotFoundError:
            self.skipTest("not installed from a wheel")

    def test_its_version_is_the_packages(self):
        self.assertEqual(self.wheel.version, penstock.__version__)

    def test_it_has_the_licences_of_all_that_is_in_its_program(self):
        names = self.wheel.metadata.get_all("License-File")
        texts = {str(f): f.read_text() for f in self.wheel.files if ".dist-info/licenses/" in str(f)}
        self.assertEqual(sorted(texts), sorted(f"penstock-{penstock.__version__}.dist-info/licenses/{name}" for name in names))
        self.assertTrue(all(len(text) > 500 for text in texts.values()), texts)
        go = shutil.which("go")
        if not go:
            self.skipTest("no go, which lists the modules of a program")
        program = os.path.join(os.path.dirname(penstock.__file__), "penstock-images")
        listed = subprocess.run([go, "version", "-m", program], check=True, stdout=subprocess.PIPE, text=True).stdout
        modules = [line.split()[1:3] for line in listed.splitlines() if line.split()[0] == "dep"]
        modules = [f"{path}@{version}" for path, version in modules if not path.startswith("github.com/penstock-go/")]
        self.assertGreater(len(modules), 0)
        for module in ["go", *modules]:
            self.assertTrue(any(name.startswith(f"{module}/LICENSE") for name in names), (module, names))


class Images(unittest.TestCase):
    def folder(self, *leave):
        """The project's images, but for the damaged one."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path in PHOTOS.glob("*/*.jpg"):
            if path.name not in leave:
                other = pathlib.Path(folder.name) / path.relative_to(PHOTOS)
                other.parent.mkdir(exist_ok=True)
                other.symlink_to(path)
        return folder.name

    def test_a_damaged_file_is_named(self):
        with self.assertRaisesRegex(penstock.Error, "tiles/truncated.jpg") as raised:
            labels_of(penstock.ImageFolder(self.folder(), batch_size=4))
        self.assertEqual(raised.exception.name, "tiles/truncated.jpg")

    def test_the_flags_do_what_they_say(self):
        root = self.folder("truncated.jpg")
        loader = penstock.ImageFolder(root, batch_size=10)
        self.assertEqual(loader.info["classes"], ["hills", "spheres", "stripes", "tiles"])
        self.assertEqual((len(loader), loader.info["samples"]), (3, 29))
        self.assertEqual(labels_of(loader), sorted(labels_of(loader)))
        self.assertEqual(len(penstock.ImageFolder(root, batch_size=10, drop_last=True)), 2)
        shuffled = penstock.ImageFolder(root, batch_size=10, shuffle=True, seed=3)
        self.assertNotEqual(labels_of(shuffled), labels_of(loader))
        image, label = next(iter(penstock.ImageFolder(root, batch_size=2, dtype="uint8", size=64, train=True)))
        self.assertEqual((tuple(image.shape), array(image).dtype), ((2, 3, 64, 64), numpy.uint8))
        exact = next(iter(penstock.ImageFolder(root))).image
        for dtype in ("float16", "bfloat16"):
            x = next(iter(penstock.ImageFolder(root, dtype=dtype))).image
            if penstock.torch:
                self.assertTrue(penstock.torch.equal(x, exact.to(getattr(penstock.torch, dtype))))
            elif dtype == "float16":
                self.assertTrue((x == exact.astype(dtype)).all())
        parts = [labels_of(penstock.ImageFolder(root, batch_size=4, rank=r, num_replicas=3, uneven="keep")) for r in range(3)]
        self.assertEqual(sorted(sum(parts, [])), labels_of(loader))
        self.assertEqual(len(labels_of(penstock.ImageFolder(self.folder(), batch_size=4, on_error="skip"))), 29)

    def test_wrong_arguments_are_errors_of_the_call(self):
        root = self.folder("truncated.jpg")
        for wrong, kind, message in (
            ({"dtype": "int3"}, ValueError, "dtype='int3': want .*bfloat16 or uint8"), ({"uneven": "?"}, ValueError, "uneven='?.': want pad, drop"),
            ({"on_error": "?"}, ValueError, "on_error='?.': want stop or skip"), ({"batch_size": 0}, ValueError, "batch_size=0: want 1 or more"),
            ({"batch_size": 2.5}, TypeError, "batch_size=2.5: want an integer"), ({"shuffle": "yes"}, TypeError, "shuffle='yes': want True or False"),
            ({"rank": 3}, ValueError, "rank=3: want less than num_replicas=1"), ({"bach_size": 3}, TypeError, "no argument 'bach_size'"),
            ({"transform": len}, TypeError, "no argument 'transform': .*penstock.DataLoader"), ({"sampler": []}, TypeError, "no argument 'sampler': .*shuffle="),
        ):
            with self.assertRaisesRegex(kind, message):
                penstock.ImageFolder(root, **wrong)
        with self.assertRaisesRegex(FileNotFoundError, "nothing.: want a folder of images"):
            penstock.ImageFolder(root + "/nothing")

    def test_the_package_shows_its_own_names_alone(self):
        self.assertEqual(dir(penstock), ["DataLoader", "Error", "ImageFolder", "Loader", "Ragged", "Shards", "__version__", "explain"])
        for name in dir(penstock):
            if callable(call := getattr(penstock, name)) and call is not penstock.Ragged:
                self.assertTrue(inspect.getdoc(call), name)
                for parameter in inspect.signature(call).parameters.values():
                    self.assertIsNot(parameter.annotation, parameter.empty, (name, parameter))
        parameters = inspect.signature(penstock.ImageFolder).parameters
        self.assertEqual((parameters["batch_size"].default, parameters["shuffle"].default, parameters["dtype"].default), (1, False, "float32"))

    @unittest.skipUnless(penstock.torch, "no PyTorch")
    def test_torch_order_is_dataloaders(self):
        torch, root = penstock.torch, self.folder("truncated.jpg")
        whole = labels_of(penstock.ImageFolder(root, batch_size=4))
        loader = penstock.ImageFolder(root, batch_size=4, torch_order=True, seed=5)
        torch.manual_seed(5)
        other = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(whole)), batch_size=4, shuffle=True)
        for _ in range(2):
            self.assertEqual(labels_of(loader), torch.cat([y for y, in other]).tolist())

    @unittest.skipUnless((SHARED / "photos").is_dir(), "no photos")
    def test_pixels_are_torchvisions(self):
        golden = json.loads((SHARED / "golden" / "photos.json").read_text())
        photos = golden["photos"]
        names = [p.name for p in sorted((SHARED / "photos").glob("*/*"))]
        for dtype, key in (("uint8", "eval"), ("float32", "eval_tensor")):
            k = 0
            for image, _ in penstock.ImageFolder(SHARED / "photos", batch_size=16, dtype=dtype):
                image = array(image)
                for pixels in image.transpose(0, 2, 3, 1) if dtype == "uint8" else image:
                    self.assertEqual(hashlib.sha256(numpy.ascontiguousarray(pixels).tobytes()).hexdigest(), photos[names[k]][key], names[k])
                    k += 1
            self.assertEqual(k, len(names))


def labels_of(loader):
    return sum((array(label).tolist() for _, label in loader), [])


if __name__ == "__main__":
    unittest.main()
