package loader

import "time"

// Age expires the cached stations, so that the next batch reads them again.
func (l *Loader) Age() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadedAt = time.Time{}
}
