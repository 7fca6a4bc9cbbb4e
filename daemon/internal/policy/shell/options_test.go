package shell

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// usages are all programs that a table describes, by name; the commands of git
// are "git log" and so on.
func usages() map[string]usage {
	all := map[string]usage{}
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms, systemPrograms} {
		maps.Copy(all, family)
	}
	for name, o := range gitCommands {
		all["git "+name] = o.usage
	}
	return all
}

// optionTables are the usages with only what belongs to their options: operands
// are any words, and there is no rule beside the notation.
func optionTables() map[string]*options {
	all := map[string]*options{}
	for name, s := range usages() {
		s.also, s.operands = nil, ":"
		all[name] = s.ready()
	}
	return all
}

// The words that a value sign is tried with, and the grade that it promises.
var signValues = map[byte]map[string]Grade{
	':': {"a": Proven, "/etc/hosts": Proven, "../a": Proven, "": Proven},
	'<': {"a": Proven, "sub/a": Proven, "/dev/null": Proven, "/etc/hosts": Unproven, "../a": Unproven, "/home/bothy/.ssh/id_rsa": Unsafe},
	'>': {"a": Contained, "sub/a": Contained, "/dev/null": Proven, "/tmp/a": Unproven, ".git/config": Unproven, "../a": Unproven, "/home/bothy/.ssh/id_rsa": Unsafe},
}

// expect compares the grade of a call of options with what the notation promises.
func expect(t *testing.T, name string, o *options, want Grade, words ...string) {
	t.Helper()
	f := o.judge(call{argv: append([]string{"program"}, words...), place: start})
	if f.grade != want {
		t.Errorf("%s %q: %s (%s), want %s", name, words, columns[f.grade], f.reason, columns[want])
	}
	if (f.grade == Proven) != (f.rule == "" && f.reason == "") {
		t.Errorf("%s %q: %s by the rule %q with the reason %q", name, words, columns[f.grade], f.rule, f.reason)
	}
}

// fill are values for the signs behind the first one, which are harmless, and
// the grade of them.
func fill(signs string) (words []string, least Grade) {
	for _, sign := range []byte(signs) {
		words = append(words, "a")
		least = max(least, signValues[sign]["a"])
	}
	return words, least
}

// TestLettersOfOptions tries every letter of every table: alone or with its
// value glued, apart and missing, in a bundle, and behind "--".
func TestLettersOfOptions(t *testing.T) {
	for name, o := range optionTables() {
		if o.dash {
			continue
		}
		for letter, signs := range o.letters {
			option := "-" + string(letter)
			switch {
			case signs == "":
				expect(t, name, o, Proven, option)
				expect(t, name, o, Proven, option+string(letter))
			case signs == "?":
				expect(t, name, o, Proven, option)
				expect(t, name, o, Proven, option+"anything/../../at-all")
			default:
				rest, least := fill(signs[1:])
				for value, want := range signValues[signs[0]] {
					expect(t, name, o, max(want, least), append([]string{option, value}, rest...)...)
					if value != "" {
						expect(t, name, o, max(want, least), append([]string{option + value}, rest...)...)
					}
				}
				expect(t, name, o, Proven, option)
			}
			expect(t, name, o, Proven, "--", option)
		}
	}
}

// TestUnknownLettersOfOptions tries every byte that is no letter of a table, alone
// and among letters that are.
func TestUnknownLettersOfOptions(t *testing.T) {
	for name, o := range optionTables() {
		if o.dash {
			continue
		}
		letters := o.letters
		flags := slices.Sorted(maps.Keys(letters))
		flags = slices.DeleteFunc(flags, func(c byte) bool { return letters[c] != "" })
		for c := byte('!'); c <= '~'; c++ {
			if _, known := letters[c]; known || c == '-' || o.digits && c >= '0' && c <= '9' {
				continue
			}
			expect(t, name, o, Unproven, "-"+string(c))
			if len(flags) > 0 {
				expect(t, name, o, Unproven, "-"+string(flags[0])+string(c))
				expect(t, name, o, Unproven, "-"+string(c)+string(flags[0]))
			}
		}
	}
}

// TestNamesOfOptions tries every long name: with its value glued, apart and
// missing, and with a value that it does not take.
func TestNamesOfOptions(t *testing.T) {
	for name, o := range optionTables() {
		dashes := "--"
		if o.dash {
			dashes = "-"
		}
		for long, signs := range o.words {
			option := dashes + long
			switch {
			case o.refused[long]:
				expect(t, name, o, Unproven, option)
				expect(t, name, o, Unproven, option+"=a")
				continue
			case signs == "":
				expect(t, name, o, Proven, option)
				expect(t, name, o, Unproven, option+"=a")
			case signs == "?":
				expect(t, name, o, Proven, option)
				expect(t, name, o, Proven, option+"=/etc/hosts")
			default:
				rest, least := fill(signs[1:])
				for value, want := range signValues[signs[0]] {
					expect(t, name, o, max(want, least), append([]string{option, value}, rest...)...)
					if !o.dash {
						expect(t, name, o, max(want, least), append([]string{option + "=" + value}, rest...)...)
					}
				}
				expect(t, name, o, Proven, option)
			}
			if !o.dash {
				expect(t, name, o, Proven, "--", option)
			}
		}
	}
}

// TestAbbreviationsOfOptions tries every beginning of every long name. It stands
// for the only name that begins so, and for none when there are several or when
// the program takes no abbreviations.
func TestAbbreviationsOfOptions(t *testing.T) {
	for name, o := range optionTables() {
		for long := range o.words {
			for end := 1; end < len(long); end++ {
				short := long[:end]
				if _, whole := o.words[short]; whole {
					continue
				}
				meant := slices.DeleteFunc(slices.Clone(o.sorted), func(n string) bool { return !strings.HasPrefix(n, short) })
				want := Proven
				if len(meant) > 1 || o.exact || o.dash || o.refused[long] {
					want = Unproven
				}
				expect(t, name, o, want, "--"+short)
				if len(meant) == 1 && want == Proven && strings.HasSuffix(o.words[long], ">") {
					expect(t, name, o, Contained, "--"+short+"=a")
					expect(t, name, o, Unproven, "--"+short+"=/tmp/a")
				}
			}
		}
	}
}

// TestNeighboursOfOptions tries names that differ from a known one by a letter.
func TestNeighboursOfOptions(t *testing.T) {
	for name, o := range optionTables() {
		for long := range o.words {
			for _, neighbour := range []string{long + "x", "x" + long, long + "-", long[:len(long)-1] + "_", strings.ToUpper(long)} {
				if _, known := o.full(neighbour); known || len(neighbour) == 1 && o.dash {
					continue
				}
				dashes := "--"
				if o.dash {
					dashes = "-"
				}
				expect(t, name, o, Unproven, dashes+neighbour)
				if !o.dash {
					expect(t, name, o, Unproven, "--"+neighbour+"=a")
				}
			}
		}
	}
}

// TestOperandsOfPrograms tries what the operands of each table may be.
func TestOperandsOfPrograms(t *testing.T) {
	for name, s := range usages() {
		s.also = nil
		for at, sign := range []byte(s.operands) {
			for value, want := range signValues[sign] {
				if value == "" {
					continue
				}
				words, least := fill(s.operands[:at])
				argv := append(append([]string{"program"}, words...), value)
				if f := s.ready().judge(call{argv: argv, place: start}); f.grade != max(want, least) {
					t.Errorf("%s %q: %s (%s), want %s", name, argv, columns[f.grade], f.reason, columns[max(want, least)])
				}
			}
		}
		if s.operands == "" {
			if f := s.ready().judge(call{argv: []string{"program", "a"}, place: start}); f.grade != Unproven {
				t.Errorf("%s takes no operands, and is %s with one", name, columns[f.grade])
			}
		}
	}
}

// TestPatternsOfPrograms: an unquoted pattern may become an option, so it is not
// proven in front of "--", whatever the program.
func TestPatternsOfPrograms(t *testing.T) {
	for name, s := range usages() {
		f := s.ready().judge(call{argv: []string{"program", "*"}, globs: []bool{false, true}, place: start})
		if f.grade < Unproven {
			t.Errorf("%s *: %s", name, columns[f.grade])
		}
		f = s.ready().judge(call{argv: []string{"program", "-*"}, globs: []bool{false, true}, place: start})
		if f.grade < Unproven {
			t.Errorf("%s -*: %s", name, columns[f.grade])
		}
	}
}

// TestNotation holds the notation itself, on a table that has every sign.
func TestNotation(t *testing.T) {
	every := usage{short: "av:r<w>o?p:<", long: "all value: read< write> opt? pair:< !never !secret:", operands: "<"}
	for _, c := range []struct {
		words string
		want  Grade
	}{
		{"", Proven}, {"-a", Proven}, {"-aa", Proven}, {"--all", Proven}, {"--al", Proven}, {"--a", Proven}, {"--all=x", Unproven},
		{"-v", Proven}, {"-v x", Proven}, {"-vx", Proven}, {"-av x", Proven}, {"-va", Proven}, {"-v -z", Proven}, {"--value", Proven}, {"--value x", Proven}, {"--value=x", Proven}, {"--value --bad", Proven},
		{"-v x -z", Unproven}, {"-vx -z", Unproven}, {"-z", Unproven}, {"-az", Unproven}, {"-za", Unproven},
		{"-r a", Proven}, {"-ra", Proven}, {"-r /etc/x", Unproven}, {"-r/etc/x", Unproven}, {"-ar/etc/x", Unproven}, {"-r .env", Unsafe}, {"-r.env", Unsafe}, {"--read a", Proven}, {"--read=.env", Unsafe}, {"--rea /etc/x", Unproven},
		{"-w a", Contained}, {"-wa", Contained}, {"-w .git/x", Unproven}, {"-w /tmp/x", Unproven}, {"--write=a", Contained}, {"--w a", Contained}, {"-aw a", Contained},
		{"-o", Proven}, {"-ox", Proven}, {"-o x", Proven}, {"-o /etc/x", Unproven}, {"-o/etc/x", Proven}, {"--opt", Proven}, {"--opt=x", Proven}, {"--opt /etc/x", Unproven}, {"-oz", Proven},
		{"-p x a", Proven}, {"-px a", Proven}, {"-p x /etc/x", Unproven}, {"-px /etc/x", Unproven}, {"--pair x a", Proven}, {"--pair=x a", Proven}, {"--pair=x /etc/x", Unproven}, {"--pair /etc/x a", Proven},
		{"--never", Unproven}, {"--nev", Unproven}, {"--secret=x", Unproven}, {"--se", Unproven}, {"--ne", Unproven}, {"--nothing", Unproven}, {"--", Proven}, {"--=x", Unproven},
		{"a", Proven}, {"a -a b", Proven}, {"a -z b", Unproven}, {"-- -z", Proven}, {"-a -- -z /etc/x", Unproven}, {"-", Proven}, {"a /etc/x", Unproven}, {"a .env", Unsafe}, {"-5", Unproven}, {"--help", Proven}, {"--version", Proven}, {"--vers", Proven}, {"--v", Unproven}, {"--va", Proven},
	} {
		argv := append([]string{"program"}, strings.Fields(c.words)...)
		if f := every.ready().judge(call{argv: argv, place: start}); f.grade != c.want {
			t.Errorf("%s: %s (%s), want %s", c.words, columns[f.grade], f.reason, columns[c.want])
		}
	}
}

// TestNotationVariants holds what the switches of a usage change.
func TestNotationVariants(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     usage
		words string
		want  Grade
	}{
		{"digits", usage{digits: true}, "-5", Proven}, {"digits", usage{digits: true}, "-15", Proven}, {"digits", usage{digits: true}, "-5a", Unproven}, {"no digits", usage{}, "-5", Unproven},
		{"exact", usage{long: "output>", exact: true}, "--output=a", Contained}, {"exact", usage{long: "output>", exact: true}, "--out=a", Unproven},
		{"dash", usage{long: "r o>", dash: true}, "-r", Proven}, {"dash", usage{long: "r o>", dash: true}, "-o a", Contained}, {"dash", usage{long: "r o>", dash: true}, "-ro a", Unproven},
		{"dash", usage{long: "r o>", dash: true}, "--r", Unproven}, {"dash", usage{long: "r o>", dash: true}, "-o=a", Unproven}, {"dash", usage{long: "r o>", dash: true}, "--", Unproven},
		{"leading", usage{operands: "<", leading: true}, "a -z", Proven}, {"leading", usage{operands: "<", leading: true}, "-z a", Unproven}, {"not leading", usage{operands: "<"}, "a -z", Unproven},
		{"names", usage{operands: "<", names: true}, ".env", Proven}, {"names", usage{operands: "<", names: true}, "/home/bothy/.ssh/x", Unsafe}, {"contents", usage{operands: "<"}, ".env", Unsafe},
		{"names", usage{operands: "<", names: true}, "/etc/x", Unproven},
		{"instead", usage{short: "e:", operands: ":<", instead: "e"}, "/etc/x", Proven}, {"instead", usage{short: "e:", operands: ":<", instead: "e"}, "-e x /etc/x", Unproven},
		{"instead", usage{short: "e:", operands: ":<", instead: "e"}, "/etc/x -e x", Unproven}, {"instead", usage{short: "e:", operands: ":<", instead: "e"}, "x /etc/x", Unproven},
		{"none", usage{}, "a", Unproven}, {"none", usage{}, "", Proven}, {"two", usage{operands: "<>"}, "a b", Contained}, {"two", usage{operands: "<>"}, "a b c", Contained}, {"two", usage{operands: "<>"}, "a /tmp/b", Unproven}, {"two", usage{operands: "<>"}, "/etc/a b", Unproven},
	} {
		argv := append([]string{"program"}, strings.Fields(c.words)...)
		if f := c.s.ready().judge(call{argv: argv, place: start}); f.grade != c.want {
			t.Errorf("%s, %q: %s (%s), want %s", c.name, c.words, columns[f.grade], f.reason, columns[c.want])
		}
	}
}
