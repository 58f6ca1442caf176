"""A weather station keeps its log as data sets: joined, split, sampled and put into batches."""

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


class Station(Dataset):
    def __init__(self, prepare=None):
        self.prepare = prepare

    def __len__(self):
        return 7

    def __getitem__(self, hour):
        if torch.is_tensor(hour):
            hour = hour.tolist()
        record = {
            "map": np.full((2, 3), float(hour)),
            "wind": np.array([hour, -hour]),
            "sky": "clear" if hour < 4 else "grey",
            "rain": hour / 4,
        }
        return self.prepare(record) if self.prepare else record


class MapToTensor:
    def __call__(self, record):
        return record | {"map": torch.from_numpy(record["map"])}


class Gusts(IterableDataset):
    def __init__(self, weakest, strongest):
        self.strengths = range(weakest, strongest)

    def __iter__(self):
        return iter(self.strengths)


def refused(action):
    try:
        action()
    except (ValueError, AssertionError, RuntimeError) as error:
        print(type(error).__name__, error)


hours = DataLoader(Station(MapToTensor()), batch_size=3, shuffle=False, num_workers=0)
for number, batch in enumerate(hours):
    print(number, batch["map"].size(), batch["map"].dtype, batch["sky"])
    print(batch["wind"], batch["rain"])
print(Station()[torch.tensor(5)]["wind"])

days = torch.arange(12)
weeks = BatchSampler(SequentialSampler(range(9)), 4, drop_last=True)
print(list(weeks), len(weeks), len(BatchSampler(SequentialSampler(range(9)), 4, False)))
years = ConcatDataset([TensorDataset(days), TensorDataset(days - 50)])
print(len(years), years[15], years[-2], (TensorDataset(days) + TensorDataset(days))[13])
odd = DataLoader(Subset(TensorDataset(days), [1, 5, 9]), batch_size=2)
print([batch[0].tolist() for batch in odd])
parts = random_split(range(12), [0.5, 0.25, 0.25])
print([len(part) for part in parts], sorted(day for part in parts for day in part))
print([len(part) for part in random_split(range(9), [0.5, 0.5])])
refused(lambda: random_split(range(12), [4, 4]))

print(list(DataLoader(Gusts(2, 9), batch_size=3)), list(DataLoader(Gusts(5, 8), batch_size=None)))
some = DataLoader(TensorDataset(days), batch_size=4, sampler=SubsetRandomSampler([0, 2, 4]))
print(sorted(next(iter(some))[0].tolist()), len(some))
print(list(WeightedRandomSampler([0.0, 0.0, 2.0], 5)))
print(sorted(RandomSampler(range(6))))
print(len(list(RandomSampler(range(4), replacement=True, num_samples=9))))
refused(lambda: DataLoader(TensorDataset(days), sampler=SequentialSampler(days), shuffle=True))
refused(lambda: TensorDataset(torch.ones(5), torch.ones(6)))
refused(lambda: next(iter(DataLoader([[1, 2], [1]], batch_size=2))))
refused(lambda: DataLoader(TensorDataset(days), batch_size=0))
refused(lambda: DataLoader([], shuffle=True))

pairs = TensorDataset(torch.ones(8, 2), torch.arange(8.0))
loader = DataLoader(pairs, batch_size=3, pin_memory=False, drop_last=True)
print(loader.batch_size, loader.drop_last, isinstance(loader, DataLoader))
print(type(loader.sampler).__name__, type(loader.dataset).__name__)
batches = iter(loader)
first, second = next(batches)
print(first.shape, second, len(list(batches)))
