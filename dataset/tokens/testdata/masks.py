"""Writes masks.json: what transformers' DataCollatorForLanguageModeling masks with numbers of numpy, one text at a time.

    pip install transformers==5.23.0 numpy==2.4.6
    python masks.py

Of the vocabulary, 0 to 3 are special, 3 is the mask, and every third of the others, from 4 on, continues a word.
"""

import itertools
import json
import pathlib
import random

import numpy
import transformers
from transformers import DataCollatorForLanguageModeling

SPECIAL, MASK = (0, 1, 2, 3), 3


class Tokenizer:
    """As much of a tokenizer as the collator calls."""

    mask_token, mask_token_id, is_fast = "[MASK]", MASK, True

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def __len__(self):
        return self.vocabulary

    def pad(self, examples, **_):
        return {name: numpy.array([e[name] for e in examples]) for name in examples[0]}


def continues(token):
    return token >= 4 and token % 3 == 1


def example(text):
    offsets, end = [], 0
    for token in text:
        if token in SPECIAL:
            offsets.append((0, 0))
            continue
        begin = end if continues(token) else end + 1
        end = begin + 2
        offsets.append((begin, end))
    return {"input_ids": text, "special_tokens_mask": [int(t in SPECIAL) for t in text], "offset_mapping": offsets}


random.seed(4)
cases = []
for vocabulary, length, rates, words, seed in (
    (30522, 60, (0.15, 0.8, 0.1), False, 0),
    (30522, 40, (0.15, 0.8, 0.1), False, 2**40 + 9),
    (250, 300, (0.5, 0.5, 0.4), False, 7),
    (40, 50, (0.6, 0.0, 1.0), False, 8),
    (40, 50, (0.3, 0.75, 0.25), False, 8),  # with 0.9 and 0.1, numpy refuses the rounded 0.1 / (1 - 0.9)
    (40, 50, (0.3, 1.0, 0.0), False, 9),
    (40, 50, (0.3, 0.4, 0.0), False, 10),
    (40, 50, (1.0, 0.3, 0.7), False, 11),
    (40, 30, (0.0, 0.8, 0.1), False, 12),
    (5, 30, (0.4, 0.2, 0.6), False, 13),
    (40, 200, (0.15, 1.0, 0.0), True, 14),
    (1000, 200, (0.7, 1.0, 0.0), True, 15),
):
    samples = []
    for epoch, place in itertools.chain(((0, k) for k in range(4)), ((1, 0), (3, 70_000), (1, 2**33))):
        text = [0] + [random.randrange(4 if vocabulary > 5 else 3, vocabulary) for _ in range(length - 3)] + [1, 2]
        for _ in range(length // 10):
            text[random.randrange(length)] = random.choice(SPECIAL)
        collator = DataCollatorForLanguageModeling(
            Tokenizer(vocabulary), whole_word_mask=words, mlm_probability=rates[0], mask_replace_prob=rates[1],
            random_replace_prob=rates[2], return_tensors="np", seed=[seed, epoch, place],
        )
        got = collator([example(text)])
        if epoch == place == 0:
            collator.seed, collator.generator = seed, None
            same = collator([example(text)])
            assert all((same[name] == got[name]).all() for name in got)
        ids, labels = got["input_ids"][0].tolist(), got["labels"][0].tolist()
        samples.append({"epoch": epoch, "place": place, "text": text, "ids": ids, "labels": labels})
    cases.append({"vocabulary": vocabulary, "rates": rates, "words": words, "seed": seed, "samples": samples})

text = json.dumps({"transformers": transformers.__version__, "numpy": numpy.__version__, "cases": cases}, separators=(",", ":"))
pathlib.Path(__file__).with_name("masks.json").write_text(text.replace('{"vocabulary', '\n{"vocabulary') + "\n")
