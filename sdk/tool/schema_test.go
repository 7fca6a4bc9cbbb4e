package tool

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestWritten: a schema is written as jsonschema writes it, in its order, for the
// lock and the model both look at the text.
func TestWritten(t *testing.T) {
	type inner struct {
		B bool     `json:"b,omitempty"`
		A []string `json:"a" jsonschema:"with <b>brackets</b> & \"quotes\""`
	}
	type embedded struct {
		Low int8 `json:"low"`
	}
	for name, infer := range map[string]func() (*jsonschema.Schema, error){
		"texts": infer[struct {
			Z string `json:"z" jsonschema:"the last letter"`
			A string `json:"a,omitempty"`
		}],
		"nothing": infer[struct{}],
		"numbers": infer[struct {
			I   int     `json:"i"`
			U   uint8   `json:"u"`
			L   int32   `json:"l"`
			F   float64 `json:"f,omitzero"`
			Ptr *int    `json:"ptr"`
		}],
		"nested": infer[struct {
			embedded
			One   inner            `json:"one"`
			Many  []inner          `json:"many"`
			Three [3]int           `json:"three"`
			Map   map[string]inner `json:"map"`
			Any   any              `json:"any"`
			Raw   json.RawMessage  `json:"raw"`
			At    time.Time        `json:"at"`
			Ps    []*inner         `json:"ps"`
		}],
	} {
		s, err := infer()
		if err != nil {
			t.Fatal(name, err)
		}
		plain(s)
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := json.Marshal(brief{s}); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s\n%s", name, err, got, want)
		}
	}
}

func infer[T any]() (*jsonschema.Schema, error) { return jsonschema.For[T](nil) }
