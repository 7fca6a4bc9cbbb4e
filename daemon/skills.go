package daemon

// skillFace is the skills as the server shows them. Its methods stand in
// skills_*.go, by what they are about.
type skillFace struct{ d *Daemon }
