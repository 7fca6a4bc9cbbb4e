package policy

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// everyday are lines of an ordinary day: they look at a project, build and test it
// and change it.
const everyday = `ls -la && git status --short
ls *.go
git status
git diff
git log --oneline | head
git add -A
git commit -m 'a change'
git stash
git stash pop
git checkout -b topic
git switch main
git rebase main
git branch -d topic
git restore .
make
make test
cargo build
cargo test
pytest -q
python3 -m unittest 2>&1 | tail -20
python3 -m unittest -v
npm test
npm run build
npx prettier --write src
go build ./...
go test ./... -run TestX -count=1
go vet ./...
gofmt -l .
gofmt -w main.go
tsc --noEmit
ruff check .
echo $HOME
wc -l *.py
wc -l $(git ls-files)
go version
node -v
ls $(pwd)
rm x
rm -rf build
mv a b
cp a b
mkdir -p src/new
touch a
sed -i 's/a/b/' main.go
cat src/*.go | wc -l
find . -type f | xargs wc -l
find . -name '*.go' -exec grep -l x {} +
awk '{print $1}' f
sed 's/a/b/' f | head
for f in *.go; do wc -l "$f"; done
if [ -f go.mod ]; then cat go.mod; fi
unzip -l a.zip
tar xf a.tar
python3 x.py > out.txt
echo x > notes.md
printf 'a\n' >> notes.md
jq .name package.json
grep -rn TODO .
diff a b
chmod +x run.sh
./run.sh
bash scripts/build.sh
echo x > .vscode/tasks.json
git clone -q . sub && rm -rf sub/.git
rm -f .git/index.lock`

// TestEverydayLines: in mode workspace nobody is asked about a line that stays in
// the copy of the project, whoever is there.
func TestEverydayLines(t *testing.T) {
	for line := range strings.SplitSeq(everyday, "\n") {
		for _, attended := range []bool{true, false} {
			r := lineOf(line)
			r.Mode, r.Attended = sdk.ModeWorkspace, attended
			if got := New(Settings{View: true}).Decide(r); got.Verdict != sdk.Allow || got.Reason == "" {
				t.Errorf("%s: %s by %s (%s)", line, got.Verdict, got.Rule, got.Reason)
			}
		}
	}
}

// TestWorkspaceMode: what is asked in it with somebody there and without, and that
// another mode holds where there is no copy.
func TestWorkspaceMode(t *testing.T) {
	for _, c := range []struct {
		name string
		call sdk.PolicyRequest
		want string // attended, and not; without a copy: interactive, and restricted with nobody there
	}{
		{"a read", callOf(readFile, map[string]any{"path": "a"}), "AAAA"},
		{"a write", callOf(writeFile, map[string]any{"path": "a"}), "AAQA"},
		{"a write to what is asked", callOf(writeFile, map[string]any{"path": ".vscode/x"}), "QXQX"},
		{"a write to what is refused", callOf(writeFile, map[string]any{"path": ".claude/x"}), "XXXX"},
		{"a read of credentials", callOf(readFile, map[string]any{"path": ".env"}), "QXQX"},
		{"a line", lineOf("go test ./..."), "AAQX"},
		{"a line that nobody can read", lineOf("eval \"$x\"; $y"), "XXXX"},
		{"a line that nobody should run unasked", lineOf("X=rm; $X a"), "AAQX"},
		{"a line with credentials", lineOf("cat .env"), "QXQX"},
		{"a line that reads them from a file", lineOf("wc < prod.env"), "QXQX"},
		{"the deny-list", lineOf("rm -rf /"), "XXXX"},
		{"a line that changes what is refused", lineOf("echo x > .git/config"), "AAXX"},
		{"a tool that nothing confines", callOf(bare, nil), "QXQX"},
		{"a plugin that nothing vouches for", callOf(unpinned, nil), "QXQX"},
		{"what runs in the sandbox and is not said to be a line", callOf(tool("sh", true, destructive, sdk.GrantSandbox), nil), "QXQX"},
		{"the network", callOf(opens, nil), "QQQQ"},
	} {
		got := ""
		for _, at := range []struct {
			view, attended bool
			otherwise      sdk.Mode
		}{{true, true, ""}, {true, false, ""}, {false, true, sdk.ModeInteractive}, {false, false, ""}} {
			r := c.call
			r.Mode, r.Attended, r.Otherwise = sdk.ModeWorkspace, at.attended, at.otherwise
			d := New(Settings{View: at.view, NoView: "the kernel is too old"}).Decide(r)
			got += map[sdk.Verdict]string{sdk.Allow: "A", sdk.Propose: "Q", sdk.Deny: "X"}[d.Verdict]
			if strings.Contains(d.Reason, "the kernel is too old") && at.view {
				t.Errorf("%s: with a copy %q", c.name, d.Reason)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	r := lineOf("go test ./...")
	r.Mode, r.Otherwise = sdk.ModeWorkspace, sdk.ModeFull
	if d := New(Settings{NoView: "the kernel is too old"}).Decide(r); d.Verdict != sdk.Deny || !strings.Contains(d.Reason, "the mode is restricted, since workspace is not possible here: the kernel is too old") {
		t.Errorf("full in its place: %+v", d)
	}
	strict := New(Settings{View: true, Shell: "argv"})
	r.Otherwise = ""
	if d := strict.Decide(r); d.Verdict != sdk.Deny {
		t.Errorf("without a shell only what is listed runs: %+v", d)
	}
}

// TestViewOf: what the configuration says goes before what was found out.
func TestViewOf(t *testing.T) {
	found := sdk.Prepared{View: true}
	for workspace, want := range map[string]string{"project": "", "": "", "direct": "sandbox.workspace is direct", "private": "sandbox.workspace is private"} {
		l := Live{Sandbox: func(string) sdk.Sandbox { return sdk.Sandbox{Workspace: workspace} }, Prepared: func(string) (sdk.Prepared, bool) { return found, true }}
		if got, known := l.View("/p"); !known || got.View != (want == "") || !strings.Contains(got.Reason, want) {
			t.Errorf("%q: got %+v, %t", workspace, got, known)
		}
	}
	l := Live{Sandbox: func(string) sdk.Sandbox { return sdk.Sandbox{} }}
	if _, known := l.View("/p"); known {
		t.Error("it knows what nobody has found out")
	}
}

// TestPrivateCalls: a call of a private run is judged and bound as one whose commands have a folder of the run's own, by
// the settings of its project, and gets paths of that folder as others get those of the project.
func TestPrivateCalls(t *testing.T) {
	l := Live{
		Sandbox: func(root string) sdk.Sandbox { return sdk.Sandbox{}.For(root) },
		Written: func(project string) Settings {
			if project != "/p" {
				return Settings{}
			}
			return Settings{Rules: []sdk.PolicyRule{{Name: "here", Project: "/p", Verdict: sdk.Deny, Tools: []string{"edit_file"}}}}
		},
		Remembered: noneRemembered{},
		Prepared:   func(string) (sdk.Prepared, bool) { return sdk.Prepared{View: true}, true },
	}
	for _, private := range []bool{false, true} {
		call := func(tool sdk.Tool, arguments string) sdk.PolicyRequest {
			r := sdk.PolicyRequest{Tool: tool, Arguments: []byte(arguments), Project: "/p", Mode: sdk.ModeWorkspace}
			if private {
				r.Project, r.Settled, r.Private = "/run/workspace", "/p", true
			}
			return r
		}
		edit := writeFile
		edit.Name = "edit_file"
		if d := l.Decide(call(edit, `{"path":"a"}`)); d.Verdict != sdk.Deny || d.Rule != "here" {
			t.Errorf("private %t: what a rule of the project denies is %+v", private, d)
		}
		for path, inside := range map[string]bool{"/p/a": !private, "/run/workspace/a": private} {
			if d := l.Decide(call(writeFile, `{"path":"`+path+`"}`)); (d.Verdict == sdk.Allow) != inside {
				t.Errorf("private %t: %s is %+v", private, path, d)
			}
		}
		if d := l.Decide(call(bash, `{"command":"make"}`)); (d.Verdict == sdk.Allow) == private {
			t.Errorf("private %t: make is %s: %s", private, d.Verdict, d.Reason)
		}
		if got := l.Reach(call(bash, `{"command":"make"}`), "/run"); strings.Contains(strings.Join(got.Mounts, "\n"), ": /p") == private {
			t.Errorf("private %t: it could touch %q", private, got.Mounts)
		}
		if got := string(l.Arguments(call(writeFile, `{"path":"/workspace/a"}`))); !strings.Contains(got, `"a"`) {
			t.Errorf("private %t: the arguments are %q", private, got)
		}
	}
}

type noneRemembered struct{}

func (noneRemembered) Allowing(string) []sdk.PolicyRule { return nil }
func (noneRemembered) Open(string) bool                 { return false }
