"""How the names and changes of mutmut's mutants are read."""

import pytest

from tests.proof import mutation

DIFF = '''\
# nova_image_override.override.x__gaps__mutmut_20: survived
--- nova_image_override/override.py
+++ nova_image_override/override.py
@@ -11,7 +11,7 @@
     missing = 0
-    unread = sorted(n for n in held if n > missing)
+    unread = sorted(n for n in held
+                    if n >= missing)
     for index in unread:
'''


@pytest.mark.parametrize(('mutant', 'function'), [
    ('a.catalog.x_running__mutmut_1', 'a.catalog.running'),
    ('a.catalog.x__nearest__mutmut_12', 'a.catalog._nearest'),
    ('a.catalog.xǁCatalogǁ__init____mutmut_3', 'a.catalog.Catalog.__init__'),
    ('a.catalog.xǁCatalogǁ_property__mutmut_3', 'a.catalog.Catalog._property'),
])
def test_a_mutants_name_tells_its_function(mutant, function):
    assert mutation.function_of(mutant) == function


def test_a_fault_is_what_the_mutant_changes():
    assert mutation.fault('a.override.x__gaps__mutmut_20', DIFF) == (
        'a.override._gaps', 'unread = sorted(n for n in held if n > missing)',
        'unread = sorted(n for n in held if n >= missing)')
