package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxProgram bounds a compiled regular expression, in instructions: repeats multiply,
// so that a short one can be large.
const maxProgram = 10_000

// expression is a regular expression of RE2, whose time is linear in the text, with
// the size on which the time depends as well. The zero value finds nothing.
type expression struct {
	re   *regexp.Regexp
	size int
}

// slashed takes /body/flags apart, into what RE2 reads. Of the flags, i, m and s mean
// what they do in JavaScript; g, u and y say nothing where one is asked for a match.
func slashed(p string) string {
	last := strings.LastIndexByte(p, '/')
	var flags strings.Builder
	for _, f := range p[last+1:] {
		if strings.ContainsRune("ims", f) {
			flags.WriteRune(f)
		}
	}
	if flags.Len() == 0 {
		return p[1:last]
	}
	return "(?" + flags.String() + ")" + p[1:last]
}

// parseExpression compiles, or says why that cannot be.
func parseExpression(text string) (e expression, reason string) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return e, fmt.Sprintf("it is no regular expression of RE2 (which has no lookaround and no backreferences): %v", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return e, fmt.Sprintf("it is no regular expression of RE2: %v", err)
	}
	if len(program.Inst) > maxProgram {
		return e, fmt.Sprintf("its repeats make it %d instructions long, of %d at most", len(program.Inst), maxProgram)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return e, fmt.Sprintf("it is no regular expression of RE2: %v", err)
	}
	return expression{re, len(program.Inst)}, ""
}

// find tells whether text has a match.
func (e expression) find(text string, m *meter) bool {
	return e.re != nil && m.spend(len(text)*e.size/4+1) && e.re.MatchString(text)
}
