package tags

import "encoding/json"

// Twelve are the tools of a model by which it works on entries, in the order gather, reason, act, communicate, with as much
// of their schemas as reading their calls takes.
func Twelve() []Tool {
	return []Tool{
		{Name: "get", Target: "path", Body: "filter", Parameters: object(`"path":{"type":"string"},"line":{"type":"integer"},"limit":{"type":"integer"},"preview":{"type":"boolean"},`+visibility+`,"filter":{"type":"string"}`, `"path"`)},
		{Name: "search", Target: "path", Aliases: map[string]string{"query": "path"}, Parameters: object(`"path":{"type":"string"},"results":{"type":"integer"}`, `"path"`)},
		{Name: "skill", Target: "path", Body: "input", Aliases: map[string]string{"name": "path"}, Parameters: object(`"path":{"type":"string"},"input":{"type":"string"}`, `"path"`)},
		{Name: "think", Body: "body", Parameters: object(`"body":{"type":"string"}`, ``)},
		{Name: "set", Body: "body", Markers: EditMarkers, Parameters: object(`"path":{"type":"string"},"body":{"type":"string"},"append":{"type":"boolean"},"summary":{"type":"string"},`+visibility+`,"state":{"type":"string"},"outcome":{"type":"string"},"attributes":{"type":"object"},"pattern":{"type":"boolean"},"filter":{"type":"string"}`, `"path"`)},
		{Name: "rm", Target: "path", Body: "filter", Parameters: object(`"path":{"type":"string"},"preview":{"type":"boolean"},"filter":{"type":"string"}`, `"path"`)},
		{Name: "mv", Target: "to", Parameters: object(`"path":{"type":"string"},"to":{"type":"string"},`+visibility, `"path"`)},
		{Name: "cp", Target: "to", Parameters: object(`"path":{"type":"string"},"to":{"type":"string"},`+visibility, `"path"`)},
		{Name: "env", Body: "command", Markers: HereDocuments, Parameters: object(`"command":{"type":"string"},"timeout_seconds":{"type":"integer"}`, `"command"`)},
		{Name: "sh", Body: "command", Markers: HereDocuments, Parameters: object(`"command":{"type":"string"},"timeout_seconds":{"type":"integer"}`, `"command"`)},
		{Name: "ask_user", Target: "question", Body: "options", Parameters: object(`"question":{"type":"string"},"options":{"type":"array"}`, `"question"`)},
		{Name: "update", Body: "body", Parameters: object(`"body":{"type":"string"},"status":{"type":"integer","enum":[102,200,204,422],"default":102}`, ``)},
	}
}

const visibility = `"visibility":{"type":"string","enum":["visible","summarized","archived"]}`

func object(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
}
