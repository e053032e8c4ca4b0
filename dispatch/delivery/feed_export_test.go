package delivery

// What the tests of live notices look at.
var (
	SelectMade  = &selectMade
	SelectTried = selectTried
	SelectEnded = selectEnded
	FirstID     = firstID
)
