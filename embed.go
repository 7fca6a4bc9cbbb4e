// Package bothy embeds what every installation carries: the annotated default
// configuration and the bundled skills. It imports nothing but the standard
// library, so that any binary may take it.
package bothy

import "embed"

// DefaultConfig is config.hcl as it stands at the root of the repository.
//
//go:embed config.hcl
var DefaultConfig []byte

// DefaultConfigName is the file name that diagnostics give for DefaultConfig.
const DefaultConfigName = "config.hcl (built in)"

// Skills are the bundled skills as they stand below skills/ at the root of the
// repository: one folder each, and its SKILL.md.
//
//go:embed skills
var Skills embed.FS

// Python is the package for plugins in Python, as it stands in sdk/python/bothy: a
// plugin that is written now gets a copy of it.
//
//go:embed sdk/python/bothy/*.py sdk/python/bothy/protocol.binpb
var Python embed.FS

// GoMod and GoSum are the module's own: they say which versions a plugin needs
// that is built with the SDK.
var (
	//go:embed go.mod
	GoMod []byte
	//go:embed go.sum
	GoSum []byte
)
