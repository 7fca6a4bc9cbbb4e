package process

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/go-hclog"
)

// entry is a line of JSON as loggers write them: hclog's, and those of the SDK.
type entry struct {
	level   hclog.Level
	message string
	members []any // name, value, ..., in the order of the line
}

// readEntry reads a line of JSON; nil is that it is none of a logger. Time and module
// are the log's own.
func readEntry(line []byte) *entry {
	if !bytes.HasPrefix(line, []byte(`{"@`)) || !json.Valid(line) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	_, _ = d.Token() // the brace
	e := &entry{level: hclog.Info}
	for d.More() {
		key, _ := d.Token() // it is valid
		var value any
		if d.Decode(&value) != nil {
			return nil
		}
		text, isText := value.(string)
		switch name := key.(string); name {
		case "@level":
			if level := hclog.LevelFromString(text); level != hclog.NoLevel && level != hclog.Off {
				e.level = level
			}
		case "@message":
			if e.message = text; !isText {
				e.message = fmt.Sprint(value)
			}
		case "@module", "@timestamp":
		default:
			switch value.(type) {
			case map[string]any, []any:
				text, _ := json.Marshal(value) // it was read from JSON
				value = string(text)
			}
			e.members = append(e.members, name, value)
		}
	}
	return e
}
