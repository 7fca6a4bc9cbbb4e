package sdktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

// answer is what a call of a channel comes to.
func (l *Lender) answer(req rpc.Request) (any, error) {
	switch req.Method {
	case rpc.MethodPing, rpc.MethodUnwatch:
		return rpc.Empty{}, nil
	case rpc.MethodPeople:
		people := rpc.People{People: []rpc.ListedPerson{}, Pairing: l.Code != ""}
		for _, name := range l.People {
			people.People = append(people.People, rpc.ListedPerson{Person: sdk.Person{ID: sdk.PersonID("channel", name)}, Channel: "channel", Called: name})
		}
		return people, nil
	case rpc.MethodClaim:
		return with(req, l.claim)
	case rpc.MethodAct, rpc.MethodAsk:
		return with(req, l.prompt)
	case rpc.MethodStartRun:
		return with(req, l.start)
	case rpc.MethodRun:
		return with(req, l.detail)
	case rpc.MethodSet:
		return with(req, l.set)
	case rpc.MethodRemove:
		return with(req, l.remove)
	case rpc.MethodGet:
		return with(req, func(p rpc.Get) (sdk.EntryDone, error) {
			found, err := l.find(p.Run, p.Path)
			return sdk.EntryDone{Entries: found}, err
		})
	case rpc.MethodEntries:
		return with(req, func(p rpc.EntriesParams) (rpc.Entries, error) {
			found, err := l.find(p.Run, p.Pattern)
			return rpc.Entries{Entries: found}, err
		})
	case rpc.MethodWorkspaceWrite:
		return with(req, l.write)
	case rpc.MethodWorkspaceRead:
		return with(req, l.read)
	case rpc.MethodProposals:
		return with(req, l.proposals)
	case rpc.MethodTicket:
		return with(req, l.ticket)
	case rpc.MethodAnswer:
		return with(req, l.answered)
	case rpc.MethodInit:
		return rpc.Initialized{ProjectID: 1, Name: "project", ProjectRoot: "/project"}, nil
	case rpc.MethodWatch:
		return rpc.Watching{Watch: 1}, nil
	case rpc.MethodRuns:
		return []rpc.RunSummary{}, nil
	case rpc.MethodJournal:
		return rpc.JournalPage{Rows: []sdk.JournalRow{}}, nil // nobody works, so that no answer ends
	}
	return nil, sdk.Errorf(sdk.Unavailable, "nothing works behind this socket, which is one for tests")
}

// with calls do with the parameters of a request.
func with[P, R any](req rpc.Request, do func(P) (R, error)) (any, error) {
	var p P
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, sdk.Errorf(sdk.Validation, "parameters of %s: %w", req.Method, err)
	}
	return do(p)
}

// claim takes the code that is waited for.
func (l *Lender) claim(p rpc.Claim) (rpc.Empty, error) {
	switch {
	case l.Code == "":
		return rpc.Empty{}, l.mistake("it passed a code on, and people/list says that none is waited for")
	case sdk.PairingCode(p.Code) == "":
		return rpc.Empty{}, l.mistake("it passed %.40q on, which is no code", p.Code)
	case p.From == nil || p.From.Person == "" || p.From.Conversation != "":
		return rpc.Empty{}, l.mistake("it passed a code on that nobody sent alone with it")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claims = append(l.claims, p)
	if sdk.PairingCode(p.Code) != l.Code {
		return rpc.Empty{}, sdk.Errorf(sdk.Permission, "that is not the code")
	}
	return rpc.Empty{}, nil
}

// served refuses what is done for somebody who is not listed.
func (l *Lender) served(what, project string, from *sdk.From) error {
	switch {
	case project != "/project":
		return l.mistake("%s is in the project %q, which was not lent", what, project)
	case from == nil || from.Person == "":
		return l.mistake("%s does not say whom it is from", what)
	case !slices.Contains(l.People, from.Person):
		return l.mistake("%s is from %q, who is not listed: ask people/list before anything is done for somebody", what, from.Person)
	}
	return nil
}

// prompt takes a prompt, once.
func (l *Lender) prompt(p rpc.Prompt) (rpc.Accepted, error) {
	if err := l.served("a prompt", p.Project, p.From); err != nil {
		return rpc.Accepted{}, err
	}
	if p.Key == "" && p.From.Message == "" {
		return rpc.Accepted{}, l.mistake("a prompt has neither the message that it was nor a key, so that it would come twice after a crash")
	}
	owner := sdk.OwnerOf("channel", *p.From, sdk.Person{})
	known := owner + " " + p.Key
	if p.Key == "" {
		known = owner + " " + p.From.Thread + "/" + p.From.Message
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a, taken := l.accepted[known]; taken {
		return a, nil
	}
	l.prompts = append(l.prompts, p)
	id := l.run(p.Run)
	a := rpc.Accepted{Run: l.runs[id-1], ID: id, Loop: int64(len(l.prompts)), Sequence: 1, Status: sdk.StatusRunning, Seq: int64(len(l.prompts)), Model: "model", Mode: sdk.ModeRestricted}
	if l.accepted == nil {
		l.accepted, l.owners = map[string]rpc.Accepted{}, map[int64]string{}
	}
	l.accepted[known], l.owners[id] = a, owner
	return a, nil
}

// start makes a run.
func (l *Lender) start(p rpc.StartRun) (rpc.Started, error) {
	if err := l.served("a run", p.Project, p.From); err != nil {
		return rpc.Started{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Run != "" && slices.Contains(l.runs, p.Run) {
		return rpc.Started{}, sdk.Errorf(sdk.Conflict, "the project has a run called %s already", p.Run)
	}
	id := l.run(p.Run)
	return rpc.Started{Run: l.runs[id-1], ID: id, Model: "model"}, nil
}

// detail tells of a run, by its number.
func (l *Lender) detail(p rpc.RunRef) (rpc.RunDetail, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, err := strconv.ParseInt(p.Run, 10, 64)
	if err != nil || id < 1 || id > int64(len(l.runs)) {
		return rpc.RunDetail{}, sdk.Errorf(sdk.NotFound, "there is no run %q that this channel began", p.Run)
	}
	return rpc.RunDetail{RunState: rpc.RunState{Run: l.runs[id-1]}, ID: id, Project: "/project", Model: "model"}, nil
}

// run is the id of a run, which is made when there is none of its name. The caller holds mu.
func (l *Lender) run(name string) int64 {
	if i := slices.Index(l.runs, name); i >= 0 && name != "" {
		return int64(i + 1)
	}
	l.runs = append(l.runs, cmp.Or(name, fmt.Sprintf("channel_%d", len(l.runs)+1)))
	return int64(len(l.runs))
}

// keeps refuses what is no entry that the channel keeps.
func (l *Lender) keeps(run, path string) error {
	if run != "" {
		return sdk.Errorf(sdk.Unavailable, "no run has entries here")
	}
	if !slices.Contains(l.Schemes, sdk.SchemeOf(path)) {
		return l.mistake("it names no run for %.80q, and keeps entries of %q alone: declare the scheme by channel.Keeps", path, l.Schemes)
	}
	return nil
}

func (l *Lender) set(p rpc.Set) (sdk.EntryDone, error) {
	if err := l.keeps(p.Run, p.Path); err != nil {
		return sdk.EntryDone{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[string]string{}
	}
	if p.Body != nil {
		body := *p.Body
		if p.Append {
			body = l.kept[p.Path] + body
		}
		l.kept[p.Path] = body
	}
	return sdk.EntryDone{Text: "done", Entries: []sdk.Entry{{Path: p.Path, Body: l.kept[p.Path]}}}, nil
}

func (l *Lender) remove(p rpc.Remove) (sdk.EntryDone, error) {
	found, err := l.find(p.Run, p.Path)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range found {
		delete(l.kept, e.Path)
	}
	return sdk.EntryDone{Text: "done", Entries: found}, err
}

// find are the entries that a path or a pattern names, by path.
func (l *Lender) find(run, pattern string) ([]sdk.Entry, error) {
	if err := l.keeps(run, pattern); err != nil {
		return nil, err
	}
	wanted, err := match.Parse(pattern)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found := []sdk.Entry{}
	for path, body := range l.kept {
		if fits, err := wanted.Match(path); err == nil && (fits || path == pattern) {
			found = append(found, sdk.Entry{Path: path, Body: body, State: sdk.StateResolved, Writer: sdk.WriterClient})
		}
	}
	slices.SortFunc(found, func(a, b sdk.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return found, nil
}

// file is the key of a file in the folder of a run, by the run's name or id. The caller holds mu.
func (l *Lender) file(run, name string) (string, error) {
	if id, err := strconv.Atoi(run); err == nil && id >= 1 && id <= len(l.runs) {
		run = l.runs[id-1]
	}
	if !slices.Contains(l.runs, run) {
		return "", sdk.Errorf(sdk.NotFound, "there is no run %q that this channel began", run)
	}
	return run + "/" + name, nil
}

func (l *Lender) write(p rpc.WorkspaceWrite) (rpc.WorkspaceWritten, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, err := l.file(p.Run, p.Name)
	if err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	switch had := int64(len(l.files[key])); {
	case p.Size > rpc.MaxWorkspaceFile || len(p.Data) > rpc.MaxWorkspacePiece || p.Offset+int64(len(p.Data)) > p.Size:
		return rpc.WorkspaceWritten{}, sdk.Errorf(sdk.Overflow, "the file, or the piece, is too large")
	case p.Offset != 0 && p.Offset != had:
		return rpc.WorkspaceWritten{}, sdk.Errorf(sdk.Conflict, "%s has %d bytes, and the piece begins at %d", p.Name, had, p.Offset)
	}
	if l.files == nil {
		l.files = map[string][]byte{}
	}
	l.files[key] = append(l.files[key][:p.Offset:p.Offset], p.Data...)
	return rpc.WorkspaceWritten{Name: p.Name, Written: int64(len(l.files[key]))}, nil
}

func (l *Lender) read(p rpc.WorkspaceRead) (rpc.WorkspacePiece, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, err := l.file(p.Run, p.Name)
	if err != nil {
		return rpc.WorkspacePiece{}, err
	}
	data, there := l.files[key]
	if !there || p.Offset < 0 || p.Offset > int64(len(data)) {
		return rpc.WorkspacePiece{}, sdk.Errorf(sdk.NotFound, "there is no file %s in the folder of the run", p.Name)
	}
	end := min(int64(len(data)), p.Offset+rpc.MaxWorkspacePiece)
	return rpc.WorkspacePiece{Data: slices.Clone(data[p.Offset:end]), Size: int64(len(data))}, nil
}
