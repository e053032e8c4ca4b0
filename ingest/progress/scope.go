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

// engineFile has the id of an embedded engine, in the data directory.
const engineFile = "engine.id"

// Scope returns the scope of a world for [New]. Instances that share PostgreSQL can each have an embedded engine, with
// readings of its own: then the scope has an id of the data directory, which Scope creates.
func Scope(db *sqlstore.DB, w schema.World, embedded bool, data string) (string, error) {
	if !embedded || db.Name() == "sqlite" {
		return w.String(), nil
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
	return w.String() + "/" + string(id), nil
}
