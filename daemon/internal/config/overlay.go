package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// overlay is a body over another: attribute by attribute the upper one wins,
// and what it does not name comes from the lower one. Blocks of both are seen.
type overlay struct {
	upper, lower hcl.Body
}

// Content implements hcl.Body. An attribute that neither has is reported once.
func (o overlay) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	relaxed := relax(schema)
	up, diags := o.upper.Content(relaxed)
	down, more := o.lower.Content(relaxed)
	merged := merge(up, down)
	return merged, append(append(diags, more...), missing(schema, merged)...)
}

// PartialContent implements hcl.Body.
func (o overlay) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	relaxed := relax(schema)
	up, upRest, diags := o.upper.PartialContent(relaxed)
	down, downRest, more := o.lower.PartialContent(relaxed)
	merged := merge(up, down)
	diags = append(append(diags, more...), missing(schema, merged)...)
	return merged, overlay{upper: upRest, lower: downRest}, diags
}

// JustAttributes implements hcl.Body.
func (o overlay) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	up, diags := o.upper.JustAttributes()
	down, more := o.lower.JustAttributes()
	all := maps.Clone(down)
	maps.Copy(all, up)
	return all, append(diags, more...)
}

// MissingItemRange implements hcl.Body.
func (o overlay) MissingItemRange() hcl.Range { return o.upper.MissingItemRange() }

func relax(schema *hcl.BodySchema) *hcl.BodySchema {
	out := &hcl.BodySchema{Blocks: schema.Blocks}
	for _, a := range schema.Attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	return out
}

func merge(up, down *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{
		Attributes: maps.Clone(down.Attributes), Blocks: slices.Concat(up.Blocks, down.Blocks), MissingItemRange: up.MissingItemRange,
	}
	maps.Copy(out.Attributes, up.Attributes)
	return out
}

func missing(schema *hcl.BodySchema, content *hcl.BodyContent) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, a := range schema.Attributes {
		if _, ok := content.Attributes[a.Name]; a.Required && !ok {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Missing required argument",
				Detail:   "The argument \"" + a.Name + "\" is required.",
				Subject:  content.MissingItemRange.Ptr(),
			})
		}
	}
	return diags
}

var _ hcl.Body = overlay{}
