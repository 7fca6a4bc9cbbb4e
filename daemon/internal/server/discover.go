package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Catalogue answers discover.
type Catalogue struct {
	Protocol      string                 `json:"protocol"`
	Methods       map[string]Description `json:"methods"`
	Notifications map[string]Description `json:"notifications"`
}

// Description says what a method or notification is. Params and Result are
// JSON Schemas, made from the very types that the server decodes into.
type Description struct {
	Description string          `json:"description"`
	Role        rpc.Role        `json:"role,omitempty"`   // that a connection needs to call it
	Widens      []string        `json:"widens,omitempty"` // parameters that need the role approve
	Params      json.RawMessage `json:"params"`
	Result      json.RawMessage `json:"result,omitempty"`
}

func (s *Server) discover(context.Context, *conn, rpc.Empty) (Catalogue, error) {
	c := Catalogue{Protocol: rpc.Protocol, Methods: map[string]Description{}, Notifications: map[string]Description{}}
	for name, m := range s.methods {
		params, err := schemaOf(m.params)
		if err != nil {
			return c, err
		}
		result, err := schemaOf(m.result)
		if err != nil {
			return c, err
		}
		d := Description{Description: m.doc, Role: m.role, Params: params, Result: result}
		for _, f := range m.fields {
			if f.widens() {
				d.Widens = append(d.Widens, f.name)
			}
		}
		c.Methods[name] = d
	}
	for name, n := range notes() {
		params, err := schemaOf(n.params)
		if err != nil {
			return c, err
		}
		c.Notifications[name] = Description{Description: n.doc, Params: params}
	}
	return c, nil
}

// note is one row of the table of notifications.
type note struct {
	doc    string
	params reflect.Type
}

// notes is every notification there is.
func notes() map[string]note {
	return map[string]note{
		rpc.MethodHello:         {"The greeting on a new connection.", reflect.TypeFor[rpc.Hello]()},
		rpc.NoteGreeting:        {"The first message on a new WebSocket: the version of what is spoken, of which clients check the major number.", reflect.TypeFor[rpc.Greeting]()},
		rpc.NoteRow:             {"One committed row of the journal.", reflect.TypeFor[rpc.Row]()},
		rpc.NoteGap:             {"The client read too slowly and the watch is over: watch again with after = from-1.", reflect.TypeFor[rpc.Gap]()},
		rpc.NotePreview:         {"Text that a model is still writing: not committed, may be dropped. Who begins to watch gets first what there is of it.", reflect.TypeFor[rpc.Preview]()},
		rpc.NoteState:           {"How a run is, after an action, a turn or a loop of it ended: sent by a watch with states.", reflect.TypeFor[rpc.RunState]()},
		rpc.NoteProgress:        {"What a turn does now: thinking, processing or retrying.", reflect.TypeFor[rpc.Progress]()},
		rpc.NoteProposal:        {"Entries wait for a person.", reflect.TypeFor[rpc.Proposed]()},
		rpc.NoteStreamCancelled: {"A call that still ran was cancelled.", reflect.TypeFor[rpc.StreamCancelled]()},
		rpc.NoteRender:          {"What a tool says of its work.", reflect.TypeFor[rpc.Render]()},
		rpc.NoteNotify:          {"What the engine says of its own work: retries, other models, warnings.", reflect.TypeFor[rpc.Notify]()},
		rpc.NotePull:            {"How far the model is that this connection asked for.", reflect.TypeFor[rpc.PullProgress]()},
		rpc.NoteBackup:          {"How far the backup is that this connection asked for.", reflect.TypeFor[rpc.BackupProgress]()},
		rpc.NoteAttached:        {"The process of a plugin that this connection asked for is in use.", reflect.TypeFor[rpc.PluginAttached]()},
		rpc.NoteCode:            {"The code of channels/pair, which this connection waits for.", reflect.TypeFor[rpc.PairCode]()},
		rpc.NoteSkills:          {"Skills came, went or changed: skills/list has those that are there.", reflect.TypeFor[rpc.SkillsChanged]()},
		rpc.NoteTools:           {"Tools came, went or changed: tools/list has those that are there.", reflect.TypeFor[rpc.Empty]()},
		rpc.NoteBuffer:          {"A tool is about to use a file that this connection lends: answer by buffer/give.", reflect.TypeFor[rpc.BufferWanted]()},
		rpc.NoteStopping:        {"The daemon stops in order: what it works on goes on at its next start.", reflect.TypeFor[rpc.Empty]()},
	}
}

func schemaOf(t reflect.Type) (json.RawMessage, error) {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[sdk.Duration]():    {Type: "string"},
		reflect.TypeFor[rpc.Attributes]():  {Type: "string"},
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return json.Marshal(schema)
}
