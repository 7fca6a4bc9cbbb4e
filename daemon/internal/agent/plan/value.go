package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is what a value is.
type kind string

const (
	nothing kind = "nothing"
	text    kind = "a text"
	list    kind = "a list"
	fields  kind = "fields"
)

// value is what YAML and JSON have in common, with the place of everything in the file.
type value struct {
	line   int
	kind   kind
	text   string
	items  []value
	fields []field
}

type field struct {
	name string
	line int
	value
}

// Error implements error, for what is no YAML or JSON at all.
func (p *Problem) Error() string { return p.Message }

func malformed(line int, format string, args ...any) error {
	return &Problem{line, fmt.Sprintf(format, args...)}
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?((?s).*)$`)

func readYAML(src []byte) (v value, err error) {
	defer func() {
		if r := recover(); r != nil { // the texts are anybody's
			err = malformed(0, "the file is no YAML that can be read: %v", r)
		}
	}()
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return value{kind: nothing}, nil
	} else if err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(m[1])
		return v, malformed(line, "the file is no YAML: %s", m[2])
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return v, malformed(more.Line, "the file is more than one document of YAML, and a plan is one")
	}
	return fromYAML(doc.Content[0], 0)
}

func fromYAML(n *yaml.Node, depth int) (value, error) {
	v := value{line: n.Line}
	switch {
	case depth > maxDepth:
		return v, malformed(n.Line, "more than %d levels deep", maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return v, malformed(n.Line, "anchors and aliases are not read: write the text out")
	case n.Kind == yaml.MappingNode:
		v.kind = fields
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			x, err := fromYAML(n.Content[i+1], depth+1)
			if err != nil {
				return v, err
			}
			if key.Kind != yaml.ScalarNode || key.Anchor != "" {
				return v, malformed(key.Line, "the name of a field is a word")
			}
			v.fields = append(v.fields, field{key.Value, key.Line, x})
		}
	case n.Kind == yaml.SequenceNode:
		v.kind = list
		for _, c := range n.Content {
			x, err := fromYAML(c, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, x)
		}
	case n.ShortTag() == "!!null":
		v.kind = nothing
	default:
		v.kind, v.text = text, n.Value
	}
	return v, nil
}

func readJSON(src []byte) (value, error) {
	d := &jsonReader{src: src, decoder: json.NewDecoder(bytes.NewReader(src))}
	d.decoder.UseNumber()
	v, err := d.value(0)
	if err == nil {
		if _, more := d.decoder.Token(); !errors.Is(more, io.EOF) {
			return v, malformed(d.line(), "something stands behind the end of the plan")
		}
		return v, nil
	}
	if bad, is := err.(*Problem); is {
		return v, bad
	}
	line := d.line()
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		line = lineOf(src, min(int(bad.Offset), len(src)))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return v, malformed(line, "the file is no JSON: %v", err)
}

type jsonReader struct {
	src     []byte
	decoder *json.Decoder
	counted int // bytes, which have so many ends of lines
	ends    int
}

// line is the one in which the decoder is, which only goes on: no byte is counted twice.
func (d *jsonReader) line() int {
	at := int(d.decoder.InputOffset())
	d.ends += bytes.Count(d.src[d.counted:at], []byte("\n"))
	d.counted = at
	return d.ends + 1
}

func (d *jsonReader) value(depth int) (v value, err error) {
	t, err := d.decoder.Token()
	v.line = d.line()
	switch t := t.(type) {
	case json.Delim:
		if depth > maxDepth {
			return v, malformed(v.line, "more than %d levels deep", maxDepth)
		}
		if t == '{' {
			v.kind, err = fields, d.fields(&v, depth)
		} else {
			v.kind, err = list, d.items(&v, depth)
		}
		if err == nil {
			_, err = d.decoder.Token() // the end of it
		}
	case nil:
		v.kind = nothing
	case string:
		v.kind, v.text = text, strings.ReplaceAll(t, "\r\n", "\n")
	default:
		v.kind, v.text = text, fmt.Sprint(t)
	}
	return v, err
}

func (d *jsonReader) fields(v *value, depth int) error {
	for d.decoder.More() {
		key, err := d.decoder.Token()
		if err != nil {
			return err
		}
		at := d.line()
		x, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		v.fields = append(v.fields, field{fmt.Sprint(key), at, x})
	}
	return nil
}

func (d *jsonReader) items(v *value, depth int) error {
	for d.decoder.More() {
		x, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, x)
	}
	return nil
}
