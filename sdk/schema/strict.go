package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// maxDepth is how many levels of JSON may lie in each other.
const maxDepth = 64

// strict refuses what decoders would silently repair: text that is no JSON value,
// a name that stands twice in an object, and nesting without end.
func strict(text []byte) error {
	fault := sdk.CheckJSON(text, maxDepth)
	switch {
	case fault == nil:
		return nil
	case fault.Kind == sdk.JSONTwice:
		return fmt.Errorf("%q is given twice", fault.Name)
	case fault.Kind == sdk.JSONDeep:
		return fmt.Errorf("they are nested deeper than %d levels", maxDepth)
	case json.NewDecoder(bytes.NewReader(text)).Decode(&json.RawMessage{}) == nil:
		return errors.New("there is more behind the JSON value")
	}
	return fmt.Errorf("they are no JSON: %w", fault.Err)
}
