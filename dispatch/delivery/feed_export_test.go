package delivery

// Internals of the feed that tests use.
var (
	SelectMade  = &selectMade
	SelectTried = selectTried
	SelectEnded = selectEnded
	FirstID     = firstID
)
