package tags

import "strings"

// instead is what a model is told to write in the place of tags by which it writes calls of older tools, and of those of other programs.
var instead = func() map[string]string {
	all := map[string]string{"known": `<set path="known://NAME">...</set>`, "unknown": `<set path="unknown://NAME">...</set>`, "summarize": `<set path="known://NAME">...</set>`}
	for _, of := range []struct{ write, names string }{
		{`<get path="..."/>`, "read_file view_file open_file list_files list_dir find_files search_files grep"},
		{`<set path="...">...</set>`, "write_file edit_file create_file write_to_file replace_in_file apply_diff apply_patch str_replace str_replace_editor insert_content"},
		{`<rm path="..."/>`, "delete_file delete_path remove_file"},
		{`<sh>...</sh>`, "bash shell run_command execute_command run_terminal_cmd"},
		{`<search>...</search>`, "web_search search_web"},
		{`<skill>NAME</skill>`, "use_skill"},
		{`<ask_user>...</ask_user>`, "ask_followup_question"},
		{`<update status="200">...</update>`, "attempt_completion finish_task"},
	} {
		for _, name := range strings.Fields(of.names) {
			all[name] = of.write
		}
	}
	return all
}()

// twelve are the names of tools that an answer may call though they are not offered.
var twelve = func() map[string]bool {
	names := map[string]bool{}
	for _, t := range Twelve() {
		names[t.Name] = true
	}
	return names
}()

// longestTag is how long a tag may be that is left out of the text.
const longestTag = 1024

// plainTag leaves out a tag that is no call, as <thinking> or </p>; false when what begins at i is no tag. The model is told
// of one that it may have meant as a call.
func (r *Reader) plainTag(i int) bool {
	from := i + 1
	closing := r.text.at(from) == '/'
	if closing {
		from++
	}
	if !letter(r.text.at(from)) || !closing && i > 0 && named(r.text.s[i-1]) {
		return false // as in Map<string>
	}
	end := r.text.name(from)
	name := r.text.s[from:end]
	next := r.tagEnd(end)
	if next < 0 {
		return false
	}
	if !closing {
		r.warnPlain(name)
	}
	r.skip(next)
	return true
}

// tagEnd is the place behind a tag whose name ends at i; -1 when that is none: it has attributes with values, or nothing.
func (r *Reader) tagEnd(i int) int {
	from := i
	for i-from < longestTag {
		i = r.text.spaces(i)
		switch c := r.text.at(i); {
		case c == '>':
			return i + 1
		case c == '/' && r.text.at(i+1) == '>':
			return i + 2
		case !letter(c):
			return -1
		}
		for named(r.text.at(i)) || r.text.at(i) == '-' || r.text.at(i) == ':' {
			i++
		}
		if r.text.at(i) != '=' {
			return -1
		}
		quote := r.text.at(i + 1)
		if quote != '"' && quote != '\'' {
			return -1
		}
		end := r.text.find(quote, i+2)
		if end < 0 || r.tagIn(i+2, end) >= 0 {
			return -1
		}
		i = end + 1
	}
	return -1
}

// warnPlain tells the model of a tag that it may have meant as a call.
func (r *Reader) warnPlain(name string) {
	lower := strings.ToLower(name)
	switch write := instead[name]; {
	case write != "":
		r.lose("<"+name+">", Unknown, "<%s> is no tool that you have, so no call was made of it: write %s.", name, write)
	case r.set.byName[lower] != nil:
		r.lose("<"+name+">", Unknown, "<%s> is no tool, so no call was made of it: the name is written <%s>.", name, lower)
	case twelve[name]:
		r.lose("<"+name+">", Unknown, "<%s> is not among the tools that you have, so no call was made of it.", name)
	}
}
