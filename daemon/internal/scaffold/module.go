package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	bothy "github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

// module is what Bothy's is called.
const module = "github.com/bothyd/bothy"

// needed are the modules that the SDK is made of, as a plugin's go.mod names
// them. A test compares them with what the go command says.
var needed = []string{
	"github.com/antchfx/xpath",
	"github.com/aymanbagabas/go-udiff",
	"github.com/bmatcuk/doublestar/v4",
	"github.com/google/jsonschema-go",
	"github.com/theory/jsonpath",
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
	"google.golang.org/genproto/googleapis/rpc",
	"google.golang.org/grpc",
	"google.golang.org/protobuf",
}

// FindSDK is where a plugin that is written now finds the SDK: in the folder
// that is named; else in the checkout that one of the folders lies in; else,
// for a released Bothy, as its own version.
func FindSDK(named, version string, near ...string) (SDK, error) {
	if named != "" {
		dir, err := filepath.Abs(named)
		if err != nil {
			return SDK{}, err
		}
		if !checkout(dir) {
			return SDK{}, sdk.Errorf(sdk.NotFound, "--sdk %s is no checkout of %s: its go.mod says otherwise, or is not there", named, module)
		}
		return SDK{Checkout: dir}, nil
	}
	for _, dir := range near {
		for ; dir != "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if checkout(dir) {
				return SDK{Checkout: dir}, nil
			}
		}
	}
	if strings.HasSuffix(version, "-dev") {
		return SDK{}, sdk.Errorf(sdk.NotFound, "this Bothy is the development version %s, which no module proxy has, and no checkout is near: call this in a checkout of Bothy with --to DIR, or name it with --sdk DIR", version)
	}
	return SDK{Version: version}, nil
}

func checkout(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return err == nil && string(bytes.TrimSpace(first)) == "module "+module
}

// module are the go.mod and go.sum of a plugin. The sums are whole but for that
// of Bothy itself, which only its proxy knows.
func (s SDK) module(path string) (mod, sum []byte, err error) {
	ours, sums := bothy.GoMod, bothy.GoSum
	version := "v" + s.Version
	if s.Checkout != "" {
		version = "v0.0.0"
		if ours, err = os.ReadFile(filepath.Join(s.Checkout, "go.mod")); err != nil {
			return nil, nil, fmt.Errorf("read the SDK's module: %w", err)
		}
		if sums, err = os.ReadFile(filepath.Join(s.Checkout, "go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("read the SDK's sums: %w", err)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire %s %s\n\nrequire (\n", path, directive(ours, "go"), module, version)
	for _, m := range needed {
		v := directive(ours, m)
		if v == "" {
			return nil, nil, fmt.Errorf("the SDK's go.mod does not name %s: it is another version of Bothy than this one", m)
		}
		fmt.Fprintf(&b, "\t%s %s // indirect\n", m, v)
	}
	b.WriteString(")\n")
	if s.Checkout != "" {
		fmt.Fprintf(&b, "\nreplace %s => %s\n", module, quoted(s.Checkout))
	}
	return b.Bytes(), choose(sums), nil
}

// quoted is a path as go.mod takes it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},;") {
		return fmt.Sprintf("%q", path)
	}
	return path
}

// directive is the second word of the line that begins with the first.
func directive(mod []byte, first string) string {
	for line := range strings.Lines(string(mod)) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == first {
			return words[1]
		}
	}
	return ""
}

// tested are modules that only the tests of needed ones use: the go command
// wants to know of their go.mod all the same.
var tested = []string{"github.com/davecgh/go-spew", "github.com/pmezard/go-difflib", "github.com/stretchr/", "gopkg.in/"}

// choose keeps the sums that a plugin needs.
func choose(sums []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(sums)) {
		of, _, _ := strings.Cut(line, " ")
		if slices.Contains(needed, of) || slices.ContainsFunc(tested, func(prefix string) bool { return strings.HasPrefix(of, prefix) }) {
			b.WriteString(line)
		}
	}
	return b.Bytes()
}
