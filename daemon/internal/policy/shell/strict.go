package shell

// strictPrograms are judged otherwise in the strict form: no shell stands
// between the words and the program, and nothing more than these can be said.
var strictPrograms = map[string]program{
	"awk": awkChecked, "gawk": awkChecked, "mawk": awkChecked, "nawk": awkChecked,
	"sed": sedChecked,
}

// judgeStrict judges a call of the strict form. The form allows what is proven
// or contained; the reason names the program otherwise.
func judgeStrict(c call) finding {
	if judge, found := strictPrograms[c.argv[0]]; found {
		return judge(c)
	}
	if judge, found := programs[c.argv[0]]; found {
		return judge(c)
	}
	return c.unproven("shell.program", "%q is not among the programs that are known to only read; use one of them, such as ls, cat or grep", c.argv[0])
}
