// Prints the requests that ADK for JavaScript builds of sessions: what its own reader and its
// own functions make of stored events. TestTheOracle (internal/store/adk) runs it.
//
// Each line of the input is {"events": [event_data in the order of the query], "views":
// [{"agent", "branch", "scope"}], "next": a prompt that follows, or ""}; each line of the
// output is an array with the contents of the request for each view, or {"error"}.
const dist = './node_modules/@google/adk/dist/cjs/';
const {transformToCamelCaseEvent} = require(dist + 'events/event.js');
const {getActiveEvents} = require(dist + 'context/compaction_utils.js');
const {getContents} = require(dist + 'agents/processors/content_processor_utils.js');
const {createInterface} = require('readline');

createInterface({input: process.stdin}).on('line', (line) => {
  const {events, views, next} = JSON.parse(line);
  const read = events.map(transformToCamelCaseEvent);
  if (next) {
    read.push({author: 'user', actions: {}, timestamp: 9e12, content: {role: 'user', parts: [{text: next}]}});
  }
  console.log(JSON.stringify(views.map(({agent, branch, scope}) => {
    try {
      return getContents(getActiveEvents(read), agent, branch || undefined, scope || undefined);
    } catch (e) {
      return {error: e.message};
    }
  })));
});
