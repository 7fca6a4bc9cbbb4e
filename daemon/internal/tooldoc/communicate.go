package tooldoc

// communicate are the tools that speak to the person, which come last.
var communicate = []document{
	{"ask_user", call("ask_user", "question", "[question]").with("options", `["option", "option"]`), "Ask the person, and wait", []line{
		story(call("ask_user", "question", "Which database do the tests use?").with("options", `["the one of the compose file", "SQLite"]`), "With options they choose one.",
			"Options make answers short and questions precise."),
		story(call("ask_user", "question", "What is the name of the new command?"), "Without them they write what they like.",
			"The open question is the rarer one, so it comes second."),
		rule("You MUST NOT ask what you can find out or try yourself.",
			"It stands last in the list of tools for the same reason."),
		rule("You SHOULD ask one question at a time, in full: they may not remember what you know.",
			"Questions that lean on the context are answered wrongly."),
	}},
	{"update", call("update", "status", "[status]").with("body", "[text]"), "Say how far the work is, once at the end of each answer", []line{
		story(call("update", "status", "102").with("body", "The limit comes from the configuration now; the tests are next."), "The work goes on.",
			"The usual one. It tells what was done and what is next, in one line."),
		story(call("update", "status", "200").with("body", "The limit is configurable, and go test ./... passes."), "The work is done, and this is the answer.",
			"A claim with its proof: models copy the shape of it."),
		story(call("update", "status", "422").with("body", "The repository has no tests for this, and I may not run the service."), "The work cannot be done, and why.",
			"Giving up must be as easy as claiming success, else success is claimed."),
		rule("200 is done, 204 is done with nothing to tell, 422 cannot be done; each ends the work. 102 goes on.",
			"All four in one line."),
		rule("You MUST end each answer with one update.",
			"An answer without one is taken for a mistake where calls were made."),
		rule("You MUST NOT send 200 or 204 beside a call that may fail, or before you saw that it did not.",
			"A final status beside a failure is refused, and counts against the work."),
	}},
}
