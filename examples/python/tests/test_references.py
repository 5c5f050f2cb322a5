"""Runs the scripts of references, and compares README.md with their differences. `go test -run References ./examples/python/tests` runs this."""

import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "references"))
import measure  # noqa: E402

PHOTOS = HERE.parents[1] / "images" / "photos"


class References(unittest.TestCase):
    def test_a_few_lines_change_and_batches_have_the_same_form(self):
        readme = (HERE.parent / "README.md").read_text()
        with tempfile.TemporaryDirectory() as folder:
            photos = pathlib.Path(folder) / "photos"
            shutil.copytree(PHOTOS, photos, ignore=shutil.ignore_patterns("truncated.jpg"))
            for name, (make, _, _) in measure.SCRIPTS.items():
                with self.subTest(name):
                    if name == "detection" and not importlib.util.find_spec("pycocotools"):
                        self.skipTest("no pycocotools")
                    self.assertIn(f"\n# {name}.py\n{measure.diff(name)}\n", readme)
                    data, answers = pathlib.Path(folder) / name, []
                    data.mkdir()
                    make(photos, data, 70)
                    for text in measure.changed(name):
                        script = pathlib.Path(folder) / "script.py"
                        script.write_text(text)
                        rate, form = measure.run(script, data, 1)
                        self.assertGreater(rate, 0)
                        answers.append(form)
                    self.assertEqual(answers[0], answers[1])


if __name__ == "__main__":
    unittest.main()
