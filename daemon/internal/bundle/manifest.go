// Package bundle reads plugins of more than one file: the manifest that says what
// belongs to one (manifest.go), its files and the one digest over all of them
// (folder.go, listing.go), and the archive in which it travels (pack.go,
// unpack.go). Decision 75 says what each of them holds and why.
package bundle

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk/match"
)

// ManifestName is the file that makes a folder a bundle.
const ManifestName = "bothy-plugin.hcl"

// mostManifest is the largest manifest that is read, in bytes. It also bounds how
// deep the parser of HCL calls itself.
const mostManifest = 16 << 10

// Manifest says what a bundle is.
type Manifest struct {
	Name    string   `hcl:"name"`           // the plugin's own, as it describes itself
	Version string   `hcl:"version"`        // the same
	Start   string   `hcl:"start"`          // the program or script, below the folder
	Args    []string `hcl:"args,optional"`  // come before those of the block
	Files   []string `hcl:"files,optional"` // patterns of sdk/match; "!" before one takes out; empty is all

	take, drop []match.Glob
}

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	versionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$`)
)

// ParseManifest reads a manifest. The error names line and reason.
func ParseManifest(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > mostManifest {
		return m, fmt.Errorf("%s is larger than %d KB", ManifestName, mostManifest>>10)
	}
	file, diags := hclsyntax.ParseConfig(text, ManifestName, hcl.InitialPos)
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(file.Body, nil, &m)...)
	}
	if diags.HasErrors() {
		return Manifest{}, diags
	}
	return m, m.check()
}

// check says what is wrong with the values, and makes the patterns ready.
func (m *Manifest) check() error {
	wrong := func(what, reason string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", ManifestName, what, fmt.Sprintf(reason, args...))
	}
	switch {
	case !namePattern.MatchString(m.Name):
		return wrong("name", "%q cannot be a plugin's name: small letters, digits and . _ -, 64 at most", m.Name)
	case !versionPattern.MatchString(m.Version):
		return wrong("version", "%q cannot be a version: letters, digits and . + _ -, 64 at most", m.Version)
	}
	if err := checkPath(m.Start); err != nil {
		return wrong("start", "%v: name a file below the folder, such as bin/%s", err, m.Name)
	}
	for _, a := range m.Args {
		if strings.ContainsRune(a, 0) {
			return wrong("args", "an argument has a zero byte")
		}
	}
	all := slices.Clone(m.Files)
	if !slices.ContainsFunc(all, func(pattern string) bool { return !strings.HasPrefix(pattern, "!") }) {
		all = append(all, "**")
	}
	for _, pattern := range all {
		text, drops := strings.CutPrefix(pattern, "!")
		glob, err := match.ParseGlob(text)
		if err != nil {
			return wrong("files", "%v", err)
		}
		if drops {
			m.drop = append(m.drop, glob)
		} else {
			m.take = append(m.take, glob)
		}
	}
	if !m.Has(m.Start) {
		return wrong("start", "no pattern of files has %s", m.Start)
	}
	return nil
}

// unasked are the folders that only a pattern that names them has: what tools leave
// beside the files that a person wrote.
var unasked = []string{".git", "__pycache__"}

// Has reports whether a path below the folder belongs to the bundle.
func (m *Manifest) Has(name string) bool {
	matches := func(g match.Glob) bool { return g.Match(name) }
	asked := func(g match.Glob) bool { return g.Match(name) && names(g.String(), name) }
	return name == ManifestName || !slices.ContainsFunc(m.drop, matches) && slices.ContainsFunc(m.take, asked)
}

// names reports whether a pattern names each of the unasked folders on a path.
func names(pattern, name string) bool {
	return !slices.ContainsFunc(unasked, func(folder string) bool {
		return strings.Contains("/"+name+"/", "/"+folder+"/") && !strings.Contains(pattern, folder)
	})
}

// skips reports whether nothing in a folder can belong to the bundle.
func (m *Manifest) skips(dir string) bool {
	base := path.Base(dir)
	return slices.Contains(unasked, base) && !slices.ContainsFunc(m.take, func(g match.Glob) bool { return strings.Contains(g.String(), base) })
}
