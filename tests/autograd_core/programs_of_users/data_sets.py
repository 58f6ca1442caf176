import torch
from torch.utils.data import Dataset, DataLoader, TensorDataset, ConcatDataset, Subset, IterableDataset, WeightedRandomSampler, SubsetRandomSampler, BatchSampler, SequentialSampler, RandomSampler, random_split
import numpy as np


class Faces(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 5

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        sample = {'image': np.ones((2, 2)) * idx, 'landmarks': np.array([idx, idx + 1]), 'name': f'p{idx}', 'w': 0.5}
        if self.transform:
            sample = self.transform(sample)
        return sample


class ToTensor(object):
    def __call__(self, sample):
        return {**sample, 'image': torch.from_numpy(sample['image'])}


for i_batch, b in enumerate(DataLoader(Faces(ToTensor()), batch_size=2, shuffle=False, num_workers=0)):
    print(i_batch, b['image'].size(), b['image'].dtype, b['landmarks'], b['name'], b['w'])
x = torch.arange(10)
print(list(BatchSampler(SequentialSampler(range(7)), 3, drop_last=True)), len(BatchSampler(SequentialSampler(range(7)), 3, False)))
both = ConcatDataset([TensorDataset(x), TensorDataset(x + 100)])
print(len(both), both[12], both[-1], (TensorDataset(x) + TensorDataset(x))[11])
print([b[0].tolist() for b in DataLoader(Subset(TensorDataset(x), [1, 3, 5]), batch_size=2)])
parts = random_split(range(10), [0.5, 0.3, 0.2])
print([len(p) for p in parts], sorted(i for p in parts for i in p))
parts = random_split(range(7), [0.5, 0.5])
print([len(p) for p in parts])
try:
    random_split(range(10), [3, 3])
except ValueError as e:
    print(e)


class Count(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        return iter(range(self.start, self.end))


print(list(DataLoader(Count(3, 8), batch_size=2)), list(DataLoader(Count(3, 6), batch_size=None)))
s = DataLoader(TensorDataset(x), batch_size=4, sampler=SubsetRandomSampler([1, 2, 3]))
print(sorted(next(iter(s))[0].tolist()), len(s))
w = list(WeightedRandomSampler([0.0, 1.0, 0.0], 4))
print(w)
print(sorted(RandomSampler(range(4))), len(list(RandomSampler(range(3), replacement=True, num_samples=7))))
try:
    DataLoader(TensorDataset(x), sampler=SequentialSampler(x), shuffle=True)
except ValueError as e:
    print(e)
try:
    TensorDataset(torch.ones(3), torch.ones(4))
except AssertionError as e:
    print(e)
try:
    next(iter(DataLoader([[1], [1, 2]], batch_size=2)))
except RuntimeError as e:
    print(e)
try:
    DataLoader(TensorDataset(x), batch_size=0)
except ValueError as e:
    print(e)
try:
    DataLoader([], shuffle=True)
except ValueError as e:
    print(e)
loader = DataLoader(TensorDataset(torch.ones(6, 2), torch.arange(6.)), batch_size=3, pin_memory=False, drop_last=True)
print(loader.batch_size, loader.drop_last, type(loader.sampler).__name__, type(loader.dataset).__name__, isinstance(loader, DataLoader))
data_iter = iter(loader)
a, b = next(data_iter)
print(a.shape, b)
