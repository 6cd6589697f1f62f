import { expect } from "chai";
import { expectExposition } from "../../lib/testing/expect-exposition.js";

const histogram = (...lines: readonly string[]) => ["# TYPE h histogram", ...lines, ""].join("\n");

describe("expectExposition", () => {
  const good: readonly (readonly [string, string])[] = [
    ["an empty page", ""],
    ["a metric without samples", "# TYPE a counter\n"],
    ["help", "# HELP a Some \\\\ and \\n.\n# TYPE a gauge\na -1.5\n"],
    ["labels with every escape", '# TYPE a counter\na{x="\\\\\\"\\n{},="} 1\n'],
    ["special values of a gauge", '# TYPE a gauge\na{x="1"} NaN\na{x="2"} +Inf\na{x="3"} -Inf\n'],
    ["two metrics in order", "# TYPE a counter\na 1\n# TYPE b gauge\nb 2\n"],
    ["a histogram", histogram('h_bucket{le="1"} 1', 'h_bucket{le="+Inf"} 2', "h_sum 3", "h_count 2")],
    [
      "a histogram of two series",
      histogram(
        'h_bucket{x="a",le="+Inf"} 2',
        'h_sum{x="a"} NaN',
        'h_count{x="a"} 2',
        'h_bucket{x="b",le="+Inf"} 0',
        'h_sum{x="b"} 0',
        'h_count{x="b"} 0',
      ),
    ],
  ];
  const bad: readonly (readonly [string, string, string])[] = [
    ["no newline at the end", "# TYPE a counter\na 1", "line 2"],
    ["an empty line", "# TYPE a counter\n\na 1\n", "line 2"],
    ["a sample without a type", "a 1\n", "line 1"],
    ["a help without a type", "# HELP a b\na 1\n", "line 2"],
    ["a help at the end", "# HELP a b\n", "# HELP of a"],
    ["a help of another metric", "# HELP a b\n# TYPE b counter\n", "line 2"],
    ["two helps", "# HELP a b\n# HELP a b\n# TYPE a counter\n", "line 2"],
    ["an empty help", "# HELP a \n# TYPE a counter\n", "line 1"],
    ["a bad escape in a help", "# HELP a b\\t\n# TYPE a counter\n", "line 1"],
    ["a backslash at the end of a help", "# HELP a b\\\n# TYPE a counter\n", "line 1"],
    ["an unknown kind", "# TYPE a summary\n", "line 1"],
    ["a bad name", "# TYPE a-b counter\n", "line 1"],
    ["a comment", "# TYPE a counter\n# hello\n", "line 2"],
    ["a type twice", "# TYPE a counter\na 1\n# TYPE a counter\n", "line 3"],
    ["names out of order", "# TYPE b counter\n# TYPE a counter\n", "line 2"],
    ["a sample of another metric", "# TYPE a counter\nb 1\n", "line 2"],
    ["a bucket of a counter", '# TYPE a counter\na_bucket{le="1"} 1\n', "line 2"],
    ["a series twice", '# TYPE a counter\na{x="1"} 1\na{x="1"} 1\n', "line 3"],
    ["series out of order", '# TYPE a counter\na{x="2"} 1\na{x="1"} 1\n', "line 3"],
    ["labels out of order", '# TYPE a counter\na{y="1",x="1"} 1\n', "line 2"],
    ["a label twice", '# TYPE a counter\na{x="1",x="1"} 1\n', "line 2"],
    ["empty braces", "# TYPE a counter\na{} 1\n", "line 2"],
    ["a trailing comma", '# TYPE a counter\na{x="1",} 1\n', "line 2"],
    ["a bad label name", '# TYPE a counter\na{x-y="1"} 1\n', "line 2"],
    ["a label without quotes", "# TYPE a counter\na{x=1} 1\n", "line 2"],
    ["a quote that is not escaped", '# TYPE a counter\na{x="a"b"} 1\n', "line 2"],
    ["a bad escape in a label", '# TYPE a counter\na{x="\\t"} 1\n', "line 2"],
    ["a negative counter", "# TYPE a counter\na -1\n", "line 2"],
    ["a counter that is NaN", "# TYPE a counter\na NaN\n", "line 2"],
    ["an infinite counter", "# TYPE a counter\na +Inf\n", "line 2"],
    ["a trailing .0", "# TYPE a gauge\na 1.0\n", "line 2"],
    ["a value that is not a number", "# TYPE a gauge\na one\n", "line 2"],
    ["Infinity in JavaScript's spelling", "# TYPE a gauge\na Infinity\n", "line 2"],
    ["no value", "# TYPE a gauge\na\n", "line 2"],
    ["a timestamp", "# TYPE a gauge\na 1 1700000000000\n", "line 2"],
    ["two spaces", "# TYPE a gauge\na  1\n", "line 2"],
    ["no +Inf", histogram('h_bucket{le="1"} 1', "h_sum 3", "h_count 1"), "line 3"],
    ["no buckets", histogram("h_sum 3", "h_count 1"), "line 2"],
    ["no sum", histogram('h_bucket{le="+Inf"} 1', "h_count 1"), "line 3"],
    ["no count", histogram('h_bucket{le="+Inf"} 1', "h_sum 1"), "line 1"],
    ["count before sum", histogram('h_bucket{le="+Inf"} 1', "h_count 1", "h_sum 1"), "line 3"],
    ["a sample between", histogram('h_bucket{le="+Inf"} 1', "h 1", "h_sum 1", "h_count 1"), "line 3"],
    ["a falling bucket", histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 1"), "line 3"],
    ["a bucket with a fraction", histogram('h_bucket{le="+Inf"} 1.5', "h_sum 1", "h_count 1.5"), "line 2"],
    ["bounds out of order", histogram('h_bucket{le="2"} 1', 'h_bucket{le="1"} 1', "h_sum 1", "h_count 1"), "line 3"],
    ["a bucket without le", histogram("h_bucket 1", "h_sum 1", "h_count 1"), "line 2"],
    ["le not last", histogram('h_bucket{le="+Inf",x="1"} 1', 'h_sum{x="1"} 1', 'h_count{x="1"} 1'), "line 2"],
    ["a count that differs", histogram('h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 2"), "line 4"],
    ["a sum of other labels", histogram('h_bucket{le="+Inf"} 1', 'h_sum{x="1"} 1', "h_count 1"), "line 2"],
    ["a count of other labels", histogram('h_bucket{le="+Inf"} 1', "h_sum 1", 'h_count{x="1"} 1'), "line 4"],
    [
      "histogram series out of order",
      histogram(
        'h_bucket{x="b",le="+Inf"} 0',
        'h_sum{x="b"} 0',
        'h_count{x="b"} 0',
        'h_bucket{x="a",le="+Inf"} 2',
        'h_sum{x="a"} 1',
        'h_count{x="a"} 2',
      ),
      "line 6",
    ],
  ];

  for (const [title, text] of good) {
    it(`accepts ${title}`, () => {
      expect(() => expectExposition(text)).not.to.throw();
    });
  }

  for (const [title, text, place] of bad) {
    it(`rejects ${title}, naming the line`, () => {
      expect(() => expectExposition(text)).to.throw(Error, place);
    });
  }
});
