package sdk

// TestReport is what the tests of a project came to: the structured result of ToolTests. The call succeeded only
// where its command did, a test passed and none failed: that no test was counted is no success.
type TestReport struct {
	Framework string `json:"framework"`     // go, cargo, pytest, unittest, npm, make; or configured
	Command   string `json:"command"`       // the line that ran
	Dir       string `json:"dir,omitempty"` // where it began, relative to the project; empty is its root
	ExitCode  int    `json:"exit_code"`
	Passed    int    `json:"passed"`
	Failed    int    `json:"failed"` // what could not even begin included: a package that does not compile, a file that cannot be loaded
	Skipped   int    `json:"skipped"`
	// Failures are the first of those that failed; More is how many there are beside them.
	Failures []TestFailure `json:"failures,omitempty"`
	More     int           `json:"more_failures,omitempty"`
	Tail     string        `json:"tail,omitempty"` // the end of what was printed
}

// TestFailure is one test that failed.
type TestFailure struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"` // what it printed, shortened
}
