package shell

import (
	"maps"
	"strings"
	"testing"
)

var loopLines = []lineCase{
	{`for f in a b; do wc -l "$f"; done`, `QAA control +QAA | QAA dynamic ?wc -l "$f"`},
	{`for f in a b; do wc -l $f; done`, `QAA control +QAA | QAA dynamic ?wc -l $f`},
	{`for f in a b; do if [ -f "$f" ]; then cat $f; else echo no $f; fi; done`, `QAA control +QAA | QAA dynamic ?[ -f "$f" ] | QAA dynamic ?cat $f | QAA dynamic ?echo no $f`},
	{`for f in *.go; do wc -l "$f"; done`, `QAA control +QAA | QAA dynamic ?wc -l "$f"`},
	{`for f in a b; do echo x > $f; done`, `QAA control +QAA | AAA echo x`},
	{`for d in a b; do git -C $d log; done`, `QAA control +QAA | QAA dynamic ?git -C $d log`},

	// A value that is put in without quotes becomes several words.
	{`for f in *.go; do wc -l $f; done`, `QXA dynamic +QAA | QXA dynamic ?wc -l $f`},
	{`for f in "a b"; do wc -l $f; done`, `QXA dynamic +QAA | QXA dynamic ?wc -l $f`},
	{`for f in -o; do sort $f x; done`, `QAA control +QAA | QAA dynamic ?sort $f x`},
	{`for f in *.go; do sort "$f"; done`, `QXA glob +QAA | QXA glob ?sort "$f"`},
	{`for f in a /etc/passwd; do cat $f; done`, `QXA path +QAA | QXA path ?cat $f`},
	{`for f in a .env; do cat $f; done`, `QXX secret +QAA | QXX secret ?cat $f`},
	{`for f in a .git/config; do echo x > $f; done`, `QXX path +QXX | AAA echo x`},
	{`for f in a ..; do cd $f; done; cat x`, `QXA path +QAA | QXA path ?cd $f | QXA path cat x`},

	// The body may change the variable, or nobody can say.
	{`for f in a b; do f=/etc/passwd; cat $f; done`, `QXA assignment +QXA | QXA dynamic ?cat $f`},
	{`for f in a b; do read f; cat $f; done`, `QXX builtin +QAA | QXX builtin read f | QXA dynamic ?cat $f`},
	{`for f in a b; do for f in c d; do cat $f; done; done`, `QAA control +QAA | QAA dynamic ?cat $f`},
	{`for c in ls rm; do $c x; done`, `QXX dynamic +QAA | QXX dynamic ?$c x`},
	{`for f in a b; do cat $f; done; cat $f`, `QXA dynamic +QAA | QAA dynamic ?cat $f | QXA dynamic ?cat $f`},
	{`for f in a b; do cat ${f:=x}; done`, `QXX assignment +QXX | QXA dynamic ?cat ${f:=x}`},
	{`for f in a; do make $f; done`, `QXA program +QAA | QXA program ?make $f`},
	{`for f in a; do (cat $f); done`, `QXA dynamic +QAA | QXA dynamic ?cat $f`},
	{`for PATH in a; do ls; done`, `QXX assignment +QXX | AAA ls`},
	{`for PWD in /etc; do ls; done; cat $PWD/x`, `QXX assignment +QXX | AAA ls | QAA dynamic ?cat $PWD/x`},
	{`for LC_ALL in C; do ls; done`, `QXA assignment +QXA | AAA ls`},
	{`for http_proxy in x; do ls; done`, `QXX assignment +QXX | AAA ls`},

	// The next round starts where the last one went.
	{`cd a/b && for i in 1 2 3; do cat ../x; cd ..; done`, `QXA path +QAA | AAA cd a/b | QXA path cat ../x | QXA path cd ..`},
	{`cd sub && for i in 1 2; do cat x; cd sub; done`, `QXA path +QAA | AAA cd sub | QXA path cat x | QXA path cd sub`},
	{`for d in a b; do cd $d && ls && cd ..; done`, `QXA path +QAA | QXA path ?cd $d | QXA path ls | QXA path cd ..`},
	{`for d in a b; do (cd $d && ls); done`, `QXA dynamic +QAA | QXA dynamic ?cd $d | QXA path ls`},
	{`for d in a b; do cd $d && rm -rf build && cd ..; done`, `QXX path +QAA | QXA path ?cd $d | QXX path rm -rf build | QXA path cd ..`},
	{`for f; do cat $f; done`, `QXA dynamic +QAA | QXA dynamic ?cat $f`},

	// What is found is given to what only reads.
	{`git ls-files | xargs wc -l`, `QAA wrapper | AAA git ls-files | QAA wrapper xargs wc -l | xargs> AAA wc -l`},
	{`git ls-files '*.go' | sort | head -n 5 | xargs wc`, `QAA wrapper | AAA git ls-files "*.go" | AAA sort | AAA head -n 5 | QAA wrapper xargs wc | xargs> AAA wc`},
	{`find . -name '*.go' | grep -v vendor | xargs -n 1 wc -l`, `QAA wrapper | AAA find . -name "*.go" | AAA grep -v vendor | QAA wrapper xargs -n 1 wc -l | xargs> AAA wc -l`},
	{`echo /etc/passwd | xargs cat`, `QXA wrapper | AAA echo /etc/passwd | QXA wrapper xargs cat | xargs> AAA cat`},
	{`cat list | xargs cat`, `QXA wrapper | AAA cat list | QXA wrapper xargs cat | xargs> AAA cat`},
	{`find . -printf '/etc/passwd\n' | xargs cat`, `QXA wrapper | AAA find . -printf "/etc/passwd\\n" | QXA wrapper xargs cat | xargs> AAA cat`},
	{`find . | grep x list | xargs cat`, `QXA wrapper | AAA find . | AAA grep x list | QXA wrapper xargs cat | xargs> AAA cat`},
	{`find . | xargs sort`, `QXA wrapper | AAA find . | QXA wrapper xargs sort | xargs> AAA sort`},
	{`find . | xargs -a list cat`, `QXA wrapper | AAA find . | QXA wrapper xargs -a list cat | xargs> AAA cat`},
	{`find . | xargs touch`, `QXA wrapper | AAA find . | QXA wrapper xargs touch | xargs> AAA touch`},
	{`find / | xargs wc`, `QXA path | QXA path find / | QAA wrapper xargs wc | xargs> AAA wc`},
	{`find . < x | xargs cat`, `QXA wrapper | AAA find . | QXA wrapper xargs cat | xargs> AAA cat`},

	{`docker --version`, `QAA version argv | QAA version docker --version`},
	{`go version`, `QAA version argv | QAA version go version`},
	{`./x --version`, `QXA path | QXA path ./x --version`},
	{`go --version x`, `QXA program argv | QXA program go --version x`},
	{`shutdown --version`, `QXX program argv | QXX program shutdown --version`},
}

func TestLoopLines(t *testing.T) { checkLines(t, start, Analyse, loopLines) }

// TestDashedNames: what a pattern expands to may be an option where a name in its folder
// begins with a dash.
func TestDashedNames(t *testing.T) {
	for line, want := range map[string]Grade{
		`ls *`: Unproven, `ls -- *`: Contained, `ls ./*`: Contained, `ls sub/*`: Contained, `ls *.go`: Contained,
	} {
		at := start
		at.Links = maps.Clone(map[string]string{"*": "-rf"})
		if r := Analyse(line, at); r.Grade != want {
			t.Errorf("%s: %d, want %d (%s)", line, r.Grade, want, r.Reason)
		}
	}
}

var askingLines = []lineCase{
	{`go list -m all`, `QAA program argv | QAA program go list -m all`},
	{`go list ./... | wc -l`, `QAA program | QAA program go list ./... | AAA wc -l`},
	{`go env -w GOFLAGS=-toolexec=x`, `QXA program argv | QXA program go env -w GOFLAGS=-toolexec=x`},
	{`go list -toolexec x ./...`, `QXA program argv | QXA program go list -toolexec x ./...`},
	{`gofmt -l .`, `QAA program argv | QAA program gofmt -l .`},
	{`gofmt -l -w .`, `QXA program argv | QXA program gofmt -l -w .`},
	{`gofmt -d /etc`, `QXA program argv | QXA program gofmt -d /etc`},
	{`unzip -l a.zip`, `QAA program argv | QAA program unzip -l a.zip`},
	{`unzip a.zip`, `QXA program argv | QXA program unzip a.zip`},
	{`(cd sub && ls)`, `QAA control +QAA | AAA cd sub | AAA ls`},
	{`{ ls; make; }`, `QXA program +QAA | AAA ls | QXA program make`},
	{`echo $HOME`, `QAA dynamic | QAA dynamic ?echo $HOME`},
	{`cat $HOME/.netrc`, `QXX secret | QXX secret ?cat $HOME/.netrc`},
	{`cat "$PWD/a"`, `QAA dynamic | QAA dynamic ?cat "$PWD/a"`},
}

func TestAskingLines(t *testing.T) { checkLines(t, start, Analyse, askingLines) }

// TestSplitPath: without quotes the path of a folder with a blank is two words.
func TestSplitPath(t *testing.T) {
	at := start
	at.Dir = "/workspace/a -o"
	for line, want := range map[string]Grade{`sort "$PWD/a"`: Contained, `sort $PWD/a`: Unproven} {
		if r := Analyse(line, at); r.Grade != want {
			t.Errorf("%s: %d, want %d (%s)", line, r.Grade, want, r.Reason)
		}
	}
}

// TestNotNames: what xargs is given is no list of names, or one of credentials, or a name may
// come apart; what says its version may run the project; and a round may start elsewhere.
func TestNotNames(t *testing.T) {
	for _, line := range []string{
		`grep -h -e / -e -l list | xargs wc`, `git grep -h -e / -e -l | xargs wc`, `grep -A 1 -e -l list | xargs wc`, `rg -L . list.txt | xargs wc`, `git diff -S --name-only | xargs wc`,
		`grep -L --label=/etc/passwd foo - | xargs wc`, `git ls-files --format=/etc/passwd | xargs wc`, `git diff --name-only --line-prefix='/etc/passwd ' | xargs wc`,
		`rg --files --path-separator ' /etc/' | xargs wc`, `find ./etc/passwd | tail -c12 | xargs wc`, `find . | head -c5 | xargs wc`, `find . | xargs cat`, `git ls-files | xargs cat`,
		`find . -name .env -print0 | xargs -0 cat`, `find .env -print0 | xargs -0 cat`, `git ls-files -z .env | xargs -0 cat`, `find . -path './.env*' -print0 | xargs -0 cat`, `find . -regex './[.]env' -print0 | xargs -0 cat`,
		`find . -print0 | xargs cat`, `find . | xargs -0 cat`,
		`mvn -v`, `mvn --version`, `yarn --version`, `rails --version`, `pytest --version`, `cargo --version`,
		`go list -f -f /etc/x.go`, `for d in a b; do if [ $d = a ]; then cd sub; fi; cat ../x; done`,
	} {
		if r := Analyse(line, start); r.Grade <= Contained {
			t.Errorf("%s: %s", line, describe(r))
		}
	}
	for _, line := range []string{`find . -name '*.go' -print0 | xargs -0 cat`, `git ls-files -z | xargs -0 grep x`, `go list -f '{{.Dir}}' ./...`} {
		if r := Analyse(line, start); r.Grade > Contained {
			t.Errorf("%s: %s (%s)", line, describe(r), r.Reason)
		}
	}
}

// TestLoopsInLoops: what a line costs grows with its length, however deep its loops and pipes.
func TestLoopsInLoops(t *testing.T) {
	for _, line := range []string{
		strings.Repeat("for i in a; do cd /workspace/x && ", 200) + "ls" + strings.Repeat("; done", 200),
		"find ." + strings.Repeat("|sort", 2000) + "|xargs wc",
		"find ." + strings.Repeat("|xargs wc", 400),
	} {
		if r := Analyse(line, start); r.Rule == "" {
			t.Errorf("%.60s: %+v", line, r.Grade)
		}
	}
}
