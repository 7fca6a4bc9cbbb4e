package shell

import (
	"fmt"
	"strings"
)

// call is a command whose words are all static, as the table of programs
// judges it.
type call struct {
	argv  []string
	globs []bool // argv[i] has an unquoted pattern character
	piped bool   // its standard input is another command's output
	place Place
}

// finding is why a part of a line has the grade that it has. The zero value is
// proven.
type finding struct {
	grade Grade
	rule  string
	why
}

// why is a finding in words: to a person the reason, and to a model what to do instead,
// which begins with the verb. Neither says what the other does.
type why struct{ reason, instead string }

// says makes the words of a finding of one format, "REASON; INSTEAD": what stands behind
// the last "; " of the format is for the model. The arguments go where their verbs went.
func says(format string, args ...any) why {
	at := strings.LastIndex(format, "; ")
	if at < 0 {
		return why{reason: fmt.Sprintf(format, args...)}
	}
	reason, instead := format[:at], format[at+2:]
	n := strings.Count(strings.ReplaceAll(reason, "%%", ""), "%")
	return why{fmt.Sprintf(reason, args[:n]...), fmt.Sprintf(instead, args[n:]...)}
}

// program judges one call by its options and operands. argv[0] is the name that
// it was found by.
type program func(c call) finding
