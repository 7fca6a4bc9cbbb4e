package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// TestEntries: an entry arrives as it was sent, whatever its fields hold.
func TestEntries(t *testing.T) {
	there := func(e sdk.Entry, created, updated int64) bool {
		if len(e.Attributes) == 0 {
			e.Attributes = nil
		}
		e.Created, e.Updated = moment(created), moment(updated)
		b, err := proto.Marshal(&pb.EntriesResponse{Entries: Entries([]sdk.Entry{e})})
		if err != nil {
			t.Error(err)
			return false
		}
		var m pb.EntriesResponse
		if err := proto.Unmarshal(b, &m); err != nil {
			t.Error(err)
			return false
		}
		got := ReadEntries(m.GetEntries())
		v := reflect.ValueOf(&e).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.String {
				f.SetString(Text(f.String()))
			}
		}
		return len(got) == 1 && reflect.DeepEqual(got[0], e)
	}
	generated := func(path, body, attributes, visibility, state, outcome, writer, scope, phase, hash string, loop int64, turn, version int, created, updated int64) bool {
		return there(sdk.Entry{
			Path: path, Body: body, Attributes: json.RawMessage(attributes), Visibility: sdk.Visibility(visibility),
			State: sdk.State(state), Outcome: sdk.Outcome(outcome), Writer: sdk.Writer(writer), Scope: scope,
			Phase: sdk.Phase(phase), Hash: hash, Loop: loop, Turn: turn, Version: version,
		}, created, updated)
	}
	if err := quick.Check(generated, nil); err != nil {
		t.Error(err)
	}
	if !there(sdk.Entry{}, 0, 0) {
		t.Error("an empty entry")
	}
	if bad := "\xff"; !generated(bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, 1, 2, 3, 4, 5) {
		t.Error("an entry whose texts are none")
	}
}

// TestEveryFieldOfAnEntry: one that is added to sdk.Entry is added to the message. Left is none of an entry's: it tells
// of one query, which plugins cannot make.
func TestEveryFieldOfAnEntry(t *testing.T) {
	e := sdk.Entry{}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Left" {
			continue
		}
		switch f := v.Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(int64(i+1), 5).UTC()))
		case json.RawMessage:
			f.SetBytes([]byte(`{"a":1}`))
		default:
			if f.Kind() == reflect.String {
				f.SetString(v.Type().Field(i).Name)
			} else {
				f.SetInt(int64(i + 1))
			}
		}
	}
	if got := ReadEntries(Entries([]sdk.Entry{e})); len(got) != 1 || !reflect.DeepEqual(got[0], e) {
		t.Errorf("sent %+v\nread %+v", e, got)
	}
	if ReadEntries(Entries(nil)) != nil {
		t.Error("no entries are some")
	}
}
