package schema

// World is one of two separate sets of all data, live or sandbox. An API key belongs to
// one world and cannot access the other.
type World uint8

const (
	// Live is the world of measured air quality and real transactions.
	Live World = iota
	// Sandbox is the world of simulated air quality and mock transactions.
	Sandbox
)

// Worlds lists both worlds.
var Worlds = [...]World{Live, Sandbox}

// String returns "live" or "sandbox".
func (w World) String() string {
	if w == Sandbox {
		return "sandbox"
	}
	return "live"
}

// WorldOf returns the World with the given name; Live if the name is not that of the sandbox.
func WorldOf(name string) World {
	if name == Sandbox.String() {
		return Sandbox
	}
	return Live
}

// OpsDatabase is the ClickHouse database with data about the service itself, for operators.
const OpsDatabase = "vayu_ops"

// Database returns the name of the world's ClickHouse database.
func (w World) Database() string {
	if w == Sandbox {
		return "vayu_sandbox"
	}
	return "vayu"
}
