package schema

// World is one of the two separate sets of everything that Vayu holds. A key
// belongs to one world and never sees the other.
type World uint8

const (
	// Live holds measured air and real transactions.
	Live World = iota
	// Sandbox holds simulated air and mock transactions.
	Sandbox
)

// Worlds is both worlds.
var Worlds = [...]World{Live, Sandbox}

// String returns "live" or "sandbox".
func (w World) String() string {
	if w == Sandbox {
		return "sandbox"
	}
	return "live"
}

// WorldOf is the world of a name that String gave, as stores keep it; any other
// text means Live.
func WorldOf(name string) World {
	if name == Sandbox.String() {
		return Sandbox
	}
	return Live
}

// Database returns the name of the world's ClickHouse database.
func (w World) Database() string {
	if w == Sandbox {
		return "vayu_sandbox"
	}
	return "vayu"
}
