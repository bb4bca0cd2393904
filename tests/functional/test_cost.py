"""The extension adds no database query and no call to another service."""

from nova import context
from nova import objects
from nova.image import glance

from testing.cost import cloud
from testing.cost import compared
from testing.cost import measure
from testing.harness import base


class Costs(cloud.Cloud):
    SHARED = False  # Tests stop services.
    SERVERS = 2

    def costs(self, variants, after):
        """Return what the variants cost, and what unmodified Nova costs."""
        costs = {variant: (count.queries, count.calls) for variant, count
                 in compared.costs(variants, after).items()}
        return costs, costs[compared.NOVA]

    def test_create_costs_no_query_and_no_call_more_than_nova(self):
        self.stop()
        costs, nova = self.costs(compared.create(self), compared.forget(self))
        self.assertGreater(min(nova), 0)
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_ten_overrides_cost_at_most_four_percent_of_calls_more(self):
        """Function calls, compared to an image with the ten properties."""
        self.stop()
        calls = compared.python_calls(
            compared.create(self), compared.forget(self))
        self.assertLessEqual(
            calls[compared.TEN], 1.04 * calls[compared.NOVA_TEN])
        self.assertLessEqual(
            calls[compared.NOT_NAMED], 1.02 * calls[compared.NOVA])

    def test_function_calls_are_counted_the_same_each_time(self):
        def some():
            return sorted([3, 2, 1], key=abs)
        self.assertEqual(
            [measure.python_calls(some)] * 3,
            [measure.python_calls(some) for _ in range(3)])
        self.assertGreater(
            measure.python_calls(some), measure.python_calls(lambda: None))

    def test_lists_cost_no_query_and_no_call_more_than_nova(self):
        self.add_servers()
        self.stop()
        costs, nova = self.costs(
            compared.detail(self, '2.73'), compared.check(self))
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_lists_before_system_metadata_cost_one_query_more_when_named(self):
        """From 2.73 on, Nova reads it for locked_reason."""
        self.add_servers()
        self.stop()
        costs, nova = self.costs(
            compared.detail(self, '2.72'), compared.check(self))
        queries, calls = costs.pop(compared.NAMED)
        self.assertEqual((nova[0] + 1, nova[1]), (queries, calls))
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_queries_and_calls_are_what_is_counted(self):
        self.stop()
        asked, read = cloud.Counter(), cloud.Counter()
        with asked.counting():
            glance.API().get(None, base.IMAGE)
        with read.counting():
            objects.ServiceList.get_all(context.get_admin_context())
        self.assertEqual((0, 1), (asked.queries, asked.calls))
        self.assertGreater(read.queries, 0)
        self.assertEqual(0, read.calls)
