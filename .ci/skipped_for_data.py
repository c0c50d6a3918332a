"""Print the tests that a run skipped for want of a data set, one a line, from its records: `python skipped_for_data.py RECORD.xml …`."""

import sys
import xml.etree.ElementTree as ElementTree

MISSING = "missing data set"  # the property that tests/conftest.py leaves

for case in (case for record in sys.argv[1:] for case in ElementTree.parse(record).iter("testcase")):
    if any(each.get("name") == MISSING for each in case.iter("property")):
        print(f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}")
