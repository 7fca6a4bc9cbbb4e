package suite

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// junitCase is a test of a report.
type junitCase struct {
	Class    string        `xml:"classname,attr"`
	Name     string        `xml:"name,attr"`
	Failures []junitReason `xml:"failure"`
	Errors   []junitReason `xml:"error"`
	Skipped  *struct{}     `xml:"skipped"`
}

// junitReason is why one failed.
type junitReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit counts the tests of a report in JUnit's XML, by its cases: what it says of its sums may be anything.
func JUnit(r io.Reader) (Count, error) {
	var c Count
	d := xml.NewDecoder(r)
	root := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && root {
			return c, nil
		}
		if err != nil {
			return Count{}, sdk.Errorf(sdk.Validation, "the report is no XML of JUnit: %w", err)
		}
		start, is := token.(xml.StartElement)
		switch {
		case !is:
		case start.Name.Local == "testcase":
			var one junitCase
			if err := d.DecodeElement(&one, &start); err != nil {
				return Count{}, sdk.Errorf(sdk.Validation, "the report is no XML of JUnit: %w", err)
			}
			c.takeCase(one)
		case !root && start.Name.Local != "testsuites" && start.Name.Local != "testsuite":
			return Count{}, sdk.Errorf(sdk.Validation, "the report is no XML of JUnit: it begins with <%s>", sdk.Head(start.Name.Local, mostName))
		default:
			root = true
		}
	}
}

func (c *Count) takeCase(one junitCase) {
	reasons := append(one.Failures, one.Errors...)
	switch {
	case len(reasons) > 0:
		c.Failed++
		name := one.Name
		if one.Class != "" {
			name = one.Class + " " + name
		}
		text := strings.TrimSpace(reasons[0].Text)
		if !strings.Contains(text, reasons[0].Message) {
			text = fmt.Sprintf("%s\n%s", reasons[0].Message, text)
		}
		c.failure(name, text)
	case one.Skipped != nil:
		c.Skipped++
	default:
		c.Passed++
	}
}
