package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The parser of HCL calls itself for each bracket and each prefix operator that
// is open, and a stack that is exhausted ends the process.
const (
	deepest       = 100
	mostOperators = 10_000 // of those that nest without a bracket, in one file
)

// tooDeep reports a file that is nested deeper than a person would write.
func (l *loader) tooDeep(text []byte, name string) bool {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos) // the parser reports what is wrong with them
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
			hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
			operators++
		}
		if depth > deepest || operators > mostOperators {
			r := t.Range
			l.fail("The configuration is nested too deeply", fmt.Sprintf("%s:%d has more than %d open brackets, or the file more than %d operators; a configuration like that is a mistake.", name, r.Start.Line, deepest, mostOperators))
			return true
		}
	}
	return false
}
