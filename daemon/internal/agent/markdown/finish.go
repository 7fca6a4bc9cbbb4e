package markdown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
)

// finish is what the agent must hand back. A mistake in it costs the file: an agent that is to
// prove something must not go without.
func (r *reader) finish() {
	if _, is := r.has("finish"); !is && r.Key("finish") == nil {
		return
	}
	n := r.Value("finish")
	if n.Kind != yaml.MappingNode {
		r.Fail("finish-type", n, "finish is a "+frontmatter.KindOf(n)+" and not a list of fields", "Write below it schema: with a JSON Schema, and where they are wanted prove: and validator:.")
		return
	}
	spec := &sdk.FinishSpec{}
	for key, value := range frontmatter.Pairs(n) {
		switch field := frontmatter.Follow(key).Value; field {
		case "schema":
			r.schema(spec, value)
		case "prove":
			r.prove(spec, value)
		case "validator":
			if spec.Validator = frontmatter.ScalarText(value); spec.Validator == "" {
				r.Fail("finish-validator", value, "the validator is no text", "Write the label of a plugin block.")
			}
		default:
			r.Fail("finish-field", key, fmt.Sprintf("finish has no field %s", frontmatter.Show(field)), "It has schema, prove and validator.")
		}
	}
	switch _, err := schema.Compile(spec.Schema); {
	case spec.Schema == nil:
		r.Fail("finish-schema", n, "finish has no schema that can be used", "Write schema: with a JSON Schema of an object.")
	case err != nil: // which is said where it stands
	default:
		if err := finish.Check(*spec); err != nil {
			r.Fail("finish-prove", n, "nothing could ever be handed over: "+frontmatter.Visible(err.Error()), "Give the schema what the proof is about, or leave the proof out.")
		}
	}
	r.file.Agent.Finish = spec
}

// schema reads a JSON Schema, as fields or as a text that is JSON.
func (r *reader) schema(spec *sdk.FinishSpec, value *yaml.Node) {
	var text []byte
	var err error
	if value.Kind == yaml.ScalarNode {
		var compact bytes.Buffer
		err = json.Compact(&compact, []byte(value.Value))
		text = compact.Bytes()
	} else {
		text, err = json.Marshal(frontmatter.Plain(value))
	}
	if err == nil {
		_, err = schema.Compile(text)
	}
	if err != nil {
		r.Fail("finish-schema", value, "the schema of finish cannot be used: "+frontmatter.Visible(err.Error()), "Write a JSON Schema of an object, with type: object and properties:.")
	}
	spec.Schema = text
}

// prove reads the proofs that are asked for: a list, or one of them.
func (r *reader) prove(spec *sdk.FinishSpec, value *yaml.Node) {
	list := value.Content
	if value.Kind == yaml.ScalarNode {
		list = []*yaml.Node{value}
	}
	for _, n := range list {
		proof := frontmatter.ScalarText(frontmatter.Follow(n))
		if !slices.Contains(sdk.Proofs(), proof) {
			r.Fail("finish-prove", n, fmt.Sprintf("there is no proof %s", frontmatter.Show(proof)), "It may be "+strings.Join(sdk.Proofs(), " or ")+".")
			continue
		}
		spec.Prove = append(spec.Prove, proof)
	}
}
