package policy

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// workingDay are lines as models write them in ordinary projects, one a line.
const workingDay = `
ls -la
ls *.go
ls src/**/*.ts
pwd
cat README.md
cat go.mod package.json 2>/dev/null
head -50 main.go
tail -n 20 server.log
wc -l *.go
wc -l src/*.py | sort -n
sort words.txt | uniq -c | sort -rn | head -10
tree -L 2
find . -name '*.go' -not -path './vendor/*'
find . -type f -size +1M
find . -name '*_test.go' | wc -l
find . -name '*.py' | xargs wc -l
find . -name '*.go' -print0 | xargs -0 grep -l TODO
grep -rn "func main" --include='*.go' .
grep -c error *.log
grep -n TODO src/*.js
grep -rl deprecated src | head
rg -n "TODO|FIXME"
rg --files -g '*.ts'
rg -l useState src | xargs wc -l
jq .scripts package.json
jq -r '.dependencies | keys[]' package.json
sed -n 10,40p main.go
sed -n '/^func/p' main.go
sed 's/foo/bar/g' notes.txt
awk '{print $1}' access.log | sort | uniq -c
awk -F: '$3 > 1000 {print $1}' users.txt
cut -d, -f2 data.csv | sort -u
tr a-z A-Z < names.txt
diff -u old.txt new.txt
diff <(sort a) <(sort b)
file build/app
du -sh node_modules
date
env | sort
which go node python3
command -v rg || echo missing
go version
go env GOPATH
node --version
npm --version
python3 --version
ruby --version
perl --version
java -version
make --version
cmake --version
gcc --version
git --version
git status
git status --short
git diff
git diff --stat HEAD~1
git diff --cached
git log --oneline -10
git log -p -1
git log --since=yesterday --author=me
git show HEAD
git show HEAD:main.go
git blame -L 10,20 main.go
git branch -a
git branch --show-current
git rev-parse HEAD
git ls-files
git ls-files | xargs wc -l
git ls-files '*.go' | head -20
git grep -n TODO
git stash list
git remote -v
git tag --list
git describe --tags
git config --get user.name
git diff --name-only main...HEAD
git add -A
git commit -m "fix the parser"
git checkout -b feature
go doc fmt.Errorf
git push
go build ./...
go test ./...
go test ./... 2>&1 | tail -20
go vet ./...
git log --graph --oneline --all
go mod tidy
gofmt -l .
gofmt -w .
npm test
npm run build
npm install
git diff --stat
npx tsc --noEmit
node script.js
python3 -m pytest -q
python3 -m unittest
python3 -c 'print(1+1)'
pip install -r requirements.txt
make
make test
cargo build
cargo test
mvn -q test
mkdir -p build/out
touch notes.md
echo hello > hello.txt
echo "a b" >> notes.md
go list -m all
mv old.go new.go
rm -f build/app
rm -rf build
ln -s a b
chmod +x run.sh
./run.sh
tar -czf out.tgz src
tar -tzf out.tgz
unzip -l out.zip
for f in *.go; do wc -l "$f"; done
for f in a.txt b.txt; do echo "== $f"; cat "$f"; done
for i in 1 2 3; do echo $i; done
if [ -f go.mod ]; then cat go.mod; else echo none; fi
test -d node_modules && echo yes || echo no
[ -f Makefile ] && grep -n '^[a-z]*:' Makefile
cd src && ls
cd src && grep -rn import . | head
(cd docs && ls)
ls -la && git status --short
cat main.go | grep -n func | head -5
printf '%s\n' one two
echo $HOME
echo "$(git rev-parse --short HEAD)"
basename src/main.go
realpath .
sha256sum go.sum
`

// TestEveryday: few of the lines of a working day need a person, in the mode that works
// on a copy and in the one that only runs what is proven.
func TestEveryday(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(workingDay), "\n")
	for mode, most := range map[sdk.Mode]int{sdk.ModeWorkspace: 7, sdk.ModeRestricted: 35} {
		var asked []string
		for _, line := range lines {
			a := lineOf(line)
			a.Mode = mode
			if d := New(Settings{View: true}).Decide(a); d.Verdict != sdk.Allow {
				asked = append(asked, line+"  ("+d.Reason+")")
			}
		}
		if len(asked)*136 > most*len(lines) {
			t.Errorf("%s: %d of %d lines need a person:\n%s", mode, len(asked), len(lines), strings.Join(asked, "\n"))
		}
	}
}

func BenchmarkEveryday(b *testing.B) {
	p := New(Settings{View: true})
	for line := range strings.SplitSeq("ls -la\ngit status --short\ngo test ./... 2>&1 | tail -20\nfor f in a.txt b.txt; do cat \"$f\"; done", "\n") {
		a := lineOf(line)
		a.Mode = sdk.ModeWorkspace
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			for b.Loop() {
				p.Decide(a)
			}
		})
	}
}
