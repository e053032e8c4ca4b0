package progress

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// engineFile is the name of the file in the data directory that has the id of an embedded engine.
const engineFile = "engine.id"

// Local returns the id of this instance's embedded engine, if the state store is a shared PostgreSQL. Each instance
// then has readings of its own, and needs its own progress. Local creates the id in the data directory. In other
// installations it returns "".
func Local(db *sqlstore.DB, embedded bool, data string) (string, error) {
	if !embedded || db.Name() == "sqlite" {
		return "", nil
	}
	path := filepath.Join(data, engineFile)
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id = []byte(rand.Text())
		err = os.WriteFile(path, id, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("reading the id of the engine: %w", err)
	}
	return string(id), nil
}

// Scope returns the scope of a world for [New]. `local` is the result of [Local].
func Scope(w schema.World, local string) string {
	if local == "" {
		return w.String()
	}
	return w.String() + "/" + local
}
