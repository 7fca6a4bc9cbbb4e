// Package bothy embeds what every installation carries: the annotated default
// configuration. It imports nothing, so that any binary may take it.
package bothy

import _ "embed"

// DefaultConfig is config.hcl as it stands at the root of the repository.
//
//go:embed config.hcl
var DefaultConfig []byte

// DefaultConfigName is the file name that diagnostics give for DefaultConfig.
const DefaultConfigName = "config.hcl (built in)"
