package shell

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
	grade  Grade
	rule   string
	reason string
}

// program judges one call by its options and operands. argv[0] is the name that
// it was found by.
type program func(c call) finding
