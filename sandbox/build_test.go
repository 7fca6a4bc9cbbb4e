//go:build linux

package sandbox_test

import (
	"archive/zip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk/protect"
)

// builder is a project of somebody's, who has fetched on the host what it depends on.
type builder struct {
	*fixture
	home string
}

// host runs a script in the project as its owner does, outside of the sandbox.
func (b *builder) host(script string) {
	b.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = b.run.Project
	cmd.Env = []string{"HOME=" + b.home, "PATH=/usr/local/go/bin:/usr/bin:/bin:/usr/sbin:/sbin", "TMPDIR=" + b.t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("on the host: %v\n%s", err, out)
	}
}

// goModules makes a folder that go takes for a proxy with one module.
func (b *builder) goModules() string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "proxy")
	at := filepath.Join(dir, "example.org/dep/@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		b.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(at, "v1.0.0.zip"))
	if err != nil {
		b.t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": "module example.org/dep\n", "dep.go": "package dep\n\nfunc Word() string { return \"from dep\" }\n"} {
		entry, err := w.Create("example.org/dep@v1.0.0/" + name)
		if err == nil {
			_, err = entry.Write([]byte(text))
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.t.Fatal(err)
	}
	for name, text := range map[string]string{"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": "module example.org/dep\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return dir
}

// builds are projects with a dependency, one of each language: what their owner did on the
// host, what a command does, and what it prints at the end.
var builds = map[string]struct {
	tools   []string // below /usr
	prepare func(b *builder)
	script  string
}{
	"go": {[]string{"go"}, func(b *builder) {
		b.write("go.mod", "module example.org/p\n\ngo 1.19\n\nrequire example.org/dep v1.0.0\n")
		b.write("main.go", "package main\n\nimport \"example.org/dep\"\n\nfunc main() { println(dep.Word()) }\n")
		b.write("main_test.go", "package main\n\nimport (\n\t\"testing\"\n\n\t\"example.org/dep\"\n)\n\nfunc TestWord(t *testing.T) {\n\tif dep.Word() != \"from dep\" {\n\t\tt.Fatal()\n\t}\n}\n")
		b.host("GOFLAGS=-mod=mod GONOSUMDB=* GONOSUMCHECK=1 GOTOOLCHAIN=local GOPROXY=file://" + b.goModules() + " go mod download all")
	}, goBuild()},
	"node": {[]string{"node", "npm"}, func(b *builder) {
		b.write("dep/package.json", `{"name":"dep","version":"1.0.0","main":"i.js"}`)
		b.write("dep/i.js", "module.exports = 'from dep'\n")
		b.host("cd dep && npm pack --silent && npm cache add ./dep-1.0.0.tgz && cp dep-1.0.0.tgz .. && cd .. && rm -r dep")
		packed, err := os.ReadFile(b.path("dep-1.0.0.tgz"))
		if err != nil {
			b.t.Fatal(err)
		}
		sum := sha512.Sum512(packed)
		b.host("rm dep-1.0.0.tgz")
		b.write("package.json", `{"name":"p","version":"1.0.0","dependencies":{"dep":"1.0.0"},"scripts":{"test":"node -e \"if (require('dep') !== 'from dep') process.exit(1)\""}}`)
		b.write("package-lock.json", `{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0","dependencies":{"dep":"1.0.0"}},
			"node_modules/dep":{"version":"1.0.0","resolved":"https://registry.example/dep/-/dep-1.0.0.tgz","integrity":"sha512-`+base64.StdEncoding.EncodeToString(sum[:])+`"}}}`)
	}, `npm ci --silent && npm test --silent`},
	"python": {[]string{"python3"}, func(b *builder) {
		b.host(`/usr/bin/python3 -m venv --without-pip .venv; site=$(echo .venv/lib/python3*/site-packages); echo "word = 'from dep'" >$site/dep.py
			printf '#!%s/.venv/bin/python\nimport dep, sys\nassert sys.prefix == %s, sys.prefix\n' "$PWD" "'$PWD/.venv'" >.venv/bin/hello; chmod +x .venv/bin/hello`)
		b.write("test_p.py", "import dep, unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(dep.word, 'from dep')\n")
	}, `.venv/bin/hello && .venv/bin/python -m unittest -q`},
	"cmake": {[]string{"cmake", "gcc", "make"}, func(b *builder) {
		b.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\nadd_test(NAME p COMMAND p)\n")
		b.write("p.c", "int main(void) { return 0; }\n")
		b.host("cmake -S . -B build >/dev/null")
	}, `cmake --build build && ctest --test-dir build`},
	"rust": {[]string{"cargo", "rustc", "gcc", "git"}, func(b *builder) {
		b.host(`r=$HOME/registry; mkdir -p $r/index/3/d $r/dl/dep/1.0.0 $r/dep-1.0.0/src; cd $r
			printf '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n' >dep-1.0.0/Cargo.toml; echo 'pub fn word() -> &'"'static"' str { "from dep" }' >dep-1.0.0/src/lib.rs
			tar -czf dl/dep/1.0.0/download dep-1.0.0
			printf '{"name":"dep","vers":"1.0.0","deps":[],"cksum":"%s","features":{},"yanked":false}\n' "$(sha256sum <dl/dep/1.0.0/download | cut -d' ' -f1)" >index/3/d/dep
			printf '{"dl":"file://%s/dl/{crate}/{version}/download"}' "$r" >index/config.json
			cd index; git init -q; git add .; git -c user.name=x -c user.email=x@y commit -qm x`)
		b.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\ndep = { version = \"1\", registry = \"own\" }\n")
		b.write("src/main.rs", "fn main() { println!(\"{}\", dep::word()) }\n\n#[test]\nfn word() { assert_eq!(dep::word(), \"from dep\") }\n")
		b.write(".cargo/config.toml", fmt.Sprintf("[registries.own]\nindex = \"file://%s/registry/index\"\n", b.home))
		b.host("cargo fetch -q")
	}, `cargo build -q && cargo test -q && cargo run -q | grep -x 'from dep'`},
	"java": {[]string{"javac", "jar", "java"}, func(b *builder) {
		b.write("d/dep/Dep.java", "package dep;\n\npublic class Dep { public static String word() { return \"from dep\"; } }\n")
		b.write("P.java", "public class P { public static void main(String[] a) { System.out.println(dep.Dep.word()); } }\n")
		b.host(`cd d && javac dep/Dep.java && mkdir -p ~/.m2/repository/dep/dep/1.0 && jar cf ~/.m2/repository/dep/dep/1.0/dep-1.0.jar dep/Dep.class && cd .. && rm -r d`)
	}, `javac -cp ~/.m2/repository/dep/dep/1.0/dep-1.0.jar P.java && java -cp ~/.m2/repository/dep/dep/1.0/dep-1.0.jar:. P | grep -x 'from dep'`},
}

// goBuild compiles the standard library first, which takes half a minute: all of it where
// time is no matter.
func goBuild() string {
	if os.Getenv("CI") == "" {
		return `go list -deps -f '{{if .Module}}{{.ImportPath}}{{end}}' . | grep -x example.org/dep && go vet -n . >/dev/null 2>&1`
	}
	return `go build -o p . && ./p 2>&1 | grep -x 'from dep' && go test ./...`
}

// TestHomesBuild: a project whose dependencies its owner has fetched builds and tests
// without a network, and nobody is asked.
func TestHomesBuild(t *testing.T) {
	for name, c := range builds {
		t.Run(name, func(t *testing.T) {
			for _, tool := range c.tools {
				needTool(t, tool)
			}
			b := &builder{home: filepath.Join(outside(t), "home")}
			if err := os.MkdirAll(b.home, 0o755); err != nil {
				t.Fatal(err)
			}
			b.fixture = newFixture(t, nil)
			b.atItsOwnPath()
			c.prepare(b)
			cfg := config(t, shortDir(t))
			cfg.View, cfg.Judge = buildView(t), judgeByName{}
			cfg.Tools = func() toolchain.Found { return toolchain.Find(b.home, []string{"/usr/bin"}, protect.Secret) }
			b.manager = open(t, cfg)
			out := b.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", c.script}, Timeout: sandbox.MaxTimeout})
			if out.err != nil || out.ExitCode != 0 || len(out.Held)+len(out.Violations)+len(out.Conflicts) > 0 {
				t.Fatalf("got %+v\n%s\n%s", out.Result, strings.TrimSpace(out.stdout), out.stderr)
			}
		})
	}
}
