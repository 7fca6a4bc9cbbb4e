package shell

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// said is a call of a program: words between spaces, "_" for a space in a word,
// and "%" in front of a word with an unquoted pattern.
func said(line string) call {
	c := call{place: Place{Workspace: "/workspace", Dir: "/workspace", Home: "/home/bothy"}}
	for _, word := range strings.Fields(line) {
		word, glob := strings.CutPrefix(word, "&")
		c.argv = append(c.argv, strings.ReplaceAll(word, "_", " "))
		c.globs = append(c.globs, glob)
	}
	return c
}

func judgeSaid(t *testing.T, line string) finding {
	t.Helper()
	c := said(line)
	judge, found := programs[c.argv[0]]
	if !found {
		t.Fatalf("%s is not among the programs", c.argv[0])
	}
	return judge(c)
}

// judgeStrict judges a call by the table of the strict form, or else by the table
// of programs.
func judgeStrict(c call) finding {
	for _, table := range []map[string]program{strictPrograms, programs} {
		if judge := table[c.argv[0]]; judge != nil {
			return judge(c)
		}
	}
	return unlisted(c)
}

func TestPrograms(t *testing.T) {
	for grade, lines := range map[Grade]string{
		Proven: provenCalls, Contained: containedCalls, Unproven: unprovenCalls, Unsafe: unsafeCalls,
	} {
		for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
			f := judgeSaid(t, line)
			if f.grade != grade {
				t.Errorf("%s: grade %d, want %d (%s: %s)", line, f.grade, grade, f.rule, f.reason)
			}
			if (f.grade == Proven) != (f.reason == "") || (f.grade == Proven) != (f.rule == "") {
				t.Errorf("%s: grade %d with the rule %q and the reason %q", line, f.grade, f.rule, f.reason)
			}
		}
	}
}

// A program that stood in two tables would be judged by one of them only.
func TestEveryProgramHasOnePlace(t *testing.T) {
	places := map[string]int{}
	for _, k := range classes {
		for name := range strings.FieldsSeq(k.names) {
			places[name]++
		}
	}
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms, systemPrograms} {
		for name := range family {
			places[name]++
		}
	}
	for name := range languages {
		places[name]++
	}
	for name, n := range places {
		if n != 1 {
			t.Errorf("%s stands in %d tables", name, n)
		}
	}
}

// What is below another directory is not proven when the line runs elsewhere.
func TestProgramsOutsideOfTheWorkspace(t *testing.T) {
	for _, line := range []string{"ls", "find", "grep -r x", "rg x", "du", "tree", "git status", "git log", "rg --files", "cat a", "split -l 3"} {
		c := said(line)
		c.place.Dir = "/etc"
		if f := programs[c.argv[0]](c); f.grade < Unproven {
			t.Errorf("%s in /etc: grade %d", line, f.grade)
		}
	}
}

func TestStrictPrograms(t *testing.T) {
	for line, want := range map[string]bool{
		"ls -la docs": true, "nmap 10.0.0.5": false, "frob": false, "grep a;b f": true, "env": true, "env python3 x.py": false, "echo": true,
		"find . -name *.o -exec rm {} +": false, "sort --compress-program=sh f": false, "git -c core.pager=id log": false,
		"awk $1_>_5_{print_$2} f": true, "awk {print} f": true, "awk -F: {print_$1,$NF} f": true, "awk -v x=1 $1==x f": true,
		"awk /a|b/_{n++}_END{print_n} f": true, "awk NR%2==0 f": true, "awk $1~/x/||$2>3 f": true, "awk {s+=$1}END{print_s/NR} f": true,
		"awk {sub(/a|b/,\"c\");print} f": true, "awk BEGIN{printf_\"a|b>c\"}": true, "awk {print_$1}_$2>5 f": true,
		"awk BEGIN{system(\"id\")}": false, "awk BEGIN{\"id\"|getline} f": false, "awk {print_>_\"f\"} f": false,
		"awk {print_>>_\"f\"} f": false, "awk {print|\"sh\"} f": false, "awk {print|&\"sh\"} f": false, "awk -f x f": false,
		"awk {print} /etc/hosts": false, "awk {print} .env": false, "awk @load_\"x\" f": false, "awk BEGIN{ARGV[1]=\"/etc/hosts\"}{print} f": false,
		"awk -i inplace {print} f": false, "awk -e 1 f": false, "awk $1!=/\"/||x|\"cmd\"/\"/ f": false, "awk {print_/x/_>_\"f\"} f": false,
		"awk /[/]/{print|\"sh\"}/]/ f": false, "awk {printf(\"x\")>\"f\"} f": false, "awk {if(x)/\"/;x|\"sh\";/\"/} f": false, "awk": false,
		"sed 1e_id f": false, "sed s/a/id/e f": false, "sed -i s/a/b/ f": false, "sed s/a/b/w_f f": false, "sed w_f f": false,
		"sed s/a/b/ f": true, "sed s/a\\/b/c/g;2d f": true, "sed 5q f": true, "sed /x/d f": true, "sed s/a/b/ge f": false,
		"sed s/[/]/;s/w_f/x/ f": false, "sed s/a/b/;e f": false, "sed 1r/etc/hosts f": false, "sed $!d f": true, "sed s/a/b/m1e f": false,
		"xargs rm": false, "node -e 1": false, "python3 -c 1": false, "tar -cf /dev/null x --checkpoint=1 --checkpoint-action=exec=id": false,
	} {
		f := judgeStrict(said(line))
		if got := f.grade <= Contained; got != want {
			t.Errorf("%s: allowed is %t (%d %s: %s)", line, got, f.grade, f.rule, f.reason)
		}
		if !want && !strings.Contains(f.reason, said(line).argv[0]) {
			t.Errorf("%s: the reason does not name the program: %s", line, f.reason)
		}
	}
}

// An option that a table does not know, or an abbreviation of one that it
// refuses, is never proven: not alone, and not among others.
func TestUnknownOptionsAreNotProven(t *testing.T) {
	tables := map[string]usage{}
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms, systemPrograms} {
		for name, u := range family {
			tables[name] = u
		}
	}
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "program")
		o := tables[name].ready()
		var word string
		if letter := rapid.StringMatching(`[a-zA-Z@#]`).Draw(t, "letter"); rapid.Bool().Draw(t, "short") {
			if _, known := o.letters[letter[0]]; known || o.dash {
				t.Skip("the letter is known")
			}
			word = "-" + letter
		} else {
			word = rapid.StringMatching(`[a-z][a-z-]{0,12}`).Draw(t, "long")
			if full, known := o.full(word); known && !o.refused[full] {
				t.Skip("the name is known")
			}
			word = "--" + word
		}
		argv := []string{name}
		if o.leading || rapid.Bool().Draw(t, "first") {
			argv = append(argv, word, "a")
		} else {
			argv = append(argv, "a", word)
		}
		if f := programs[name](call{argv: argv, globs: make([]bool, len(argv)), place: here}); f.grade < Unproven {
			t.Fatalf("%q: grade %d", argv, f.grade)
		}
	})
}

// Refused options exist so that their abbreviations are refused as well.
func TestRefusedOptionsAreNotProven(t *testing.T) {
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms, systemPrograms} {
		for name, u := range family {
			o := u.ready()
			for refused, is := range o.refused {
				for end := 1; is && end <= len(refused); end++ {
					word := refused[:end]
					if full, known := o.full(word); known && full != refused {
						continue // the name of another option
					}
					for _, argv := range [][]string{{name, "--" + word, "a", "b"}, {name, "--" + word + "=a", "b"}} {
						if f := programs[name](call{argv: argv, place: here}); f.grade < Unproven {
							t.Errorf("%q: grade %d", argv, f.grade)
						}
					}
				}
			}
		}
	}
}

// FuzzPrograms looks for a panic, a finding without a reason, and a path outside
// of the workspace that is proven as an operand of cat.
func FuzzPrograms(f *testing.F) {
	for _, lines := range []string{provenCalls, containedCalls, unprovenCalls, unsafeCalls} {
		for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
			f.Add(strings.ReplaceAll(strings.ReplaceAll(line, " ", "\x00"), "_", " "), uint64(0))
		}
	}
	f.Fuzz(func(t *testing.T, words string, globs uint64) {
		argv := strings.Split(words, "\x00")
		c := call{argv: argv, globs: make([]bool, len(argv)), place: here}
		for i := range c.globs {
			c.globs[i] = globs>>(i%64)&1 == 1
		}
		for _, judge := range []program{judgeStrict, programs[argv[0]]} {
			if judge == nil {
				continue
			}
			found := judge(c)
			if (found.grade == Proven) != (found.reason == "") {
				t.Fatalf("%q: grade %d, reason %q", argv, found.grade, found.reason)
			}
			if !slices.Equal(argv, strings.Split(words, "\x00")) {
				t.Fatalf("%q: its words were changed to %q", words, argv)
			}
		}
		outside := append(slices.Clone(argv), "/etc/passwd")
		if outside[0] = "cat"; programs["cat"](call{argv: outside, place: here}).grade < Unproven {
			t.Fatalf("%q: proven", outside)
		}
	})
}
