package sdk

import "time"

// AuthStep is one step of signing in to the server of a provider, for a person. Exactly
// one field is set. All texts come from a plugin: escape them before they are shown on a
// terminal.
type AuthStep struct {
	Open string    `json:"open,omitempty"` // an address that the person opens in a browser: https, or http on this machine
	Code string    `json:"code,omitempty"` // what the person enters at the address that came before, as it is to be read
	Wait *AuthWait `json:"wait,omitempty"` // the provider waits for the person now
	Done *AuthDone `json:"done,omitempty"` // the last step
}

// AuthWait is for what a provider waits.
type AuthWait struct {
	Message string    `json:"message"`        // one line
	Until   time.Time `json:"until,omitzero"` // when the server gives up; zero is unknown
}

// AuthDone is what signing in came to.
type AuthDone struct {
	Account string `json:"account,omitempty"` // who signed in, for people
	// Secret is all that the provider needs from now on, as one text that only it
	// understands. Who asked keeps it as a secret that an attribute of the block names;
	// it is in no log and is shown to nobody.
	Secret string `json:"secret"`
}
