package host

// looks reports whether the instance is to look at its file.
func (i *instance) looks() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.look
}

// looked takes what looks reports.
func (i *instance) looked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.look
	i.look = false
	return was
}
