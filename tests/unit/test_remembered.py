"""The memory of what was found good."""

from nova_image_override import remembered


def test_what_is_remembered_is_bounded_in_number_and_in_size():
    memory = remembered.Remembered(2)
    keys = [remembered.digest({'n': n, 'long': 'x' * 9999}) for n in range(3)]
    assert {len(key) for key in keys} == {32}
    for key in keys[0], keys[1]:
        memory.add(key)
    assert keys[0] in memory
    memory.add(keys[2])
    assert (len(memory), keys[0] in memory, keys[1] in memory) \
        == (2, True, False)


def test_values_of_different_types_and_places_are_told_apart():
    told = [remembered.digest(*judged) for judged in (
        (1,), ('1',), (True,), (None,), ([1],), ('1', ''), ('', '1'),
        ('\ud800',), ())]
    assert len(set(told)) == len(told)
