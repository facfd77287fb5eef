// Package treetest writes session trees in a short notation, for the tests of
// replay, rules and engine.
//
//	P "Fix the build"
//	  user "please"
//	  root "I ask" T1>worker(do it) s1()
//	  worker "doing" at=3
//	  sub C
//	  root <T1 "done" <s1!
//	C<P "Transferred task"
//	  system(do it)
//	  user implicit
//	  worker "doing" at=3
//	  worker "done"
//
// A line at the margin begins a session: its id, then "<" and the recorded
// parent, a quoted title, agent=NAME, agents=NAME,NAME, model=NAME, user=NAME,
// task(TEXT), delegated, deleted, timed (the positions of its items are their times).
// The lines below it are its items. Their first word says what they are:
//
//	user, system       messages; system(TEXT) hands a task to the session
//	sub ID             a sub-session item, "-" for one that lost its reference
//	summary, other     the kinds of these names
//	run ID             no item, but the record of a run: run=INVOCATION
//	                   asked(TEXT) answered(TEXT) at=N until=N open
//	?                  a message of an unknown role
//	any other word     a message of the agent of that name, "-" for one without
//	                   a name: of role tool if it holds a result, else assistant
//
// The other words of an item, in any order:
//
//	"TEXT"             its text, or that of the result before it
//	id() id:tool()     a call of shell, or of another tool
//	id>agent(task)     a call that delegates and waits
//	id>>agent(task)    a call that delegates and goes on
//	id>agent(task)=C   one with which the store keeps the child's id
//	<id                the result of a call, <id! an error, <id~ a placeholder,
//	                   <id? one that waits for approval
//	<id=C              one that names the session that gave it
//	think(TEXT)        reasoning
//	at=N pos=N kept=N  seconds since the start, stored position, kept tail
//	branch=LABEL run=ID scope=ID
//	                   the branch, the invocation and the isolation scope
//	implicit archived synthetic unfinished blank skipped compacted
//
// Messages without text get the name of their role as text, unless they hold
// calls, results or the word blank.
package treetest
