import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({});
/************************************************************************/
/******/ // The module cache
/******/ var __webpack_module_cache__ = {};
/******/ 
/******/ // The require function
/******/ function __nccwpck_require__(moduleId) {
/******/ 	// Check if module is in cache
/******/ 	var cachedModule = __webpack_module_cache__[moduleId];
/******/ 	if (cachedModule !== undefined) {
/******/ 		return cachedModule.exports;
/******/ 	}
/******/ 	// Create a new module (and put it into the cache)
/******/ 	var module = __webpack_module_cache__[moduleId] = {
/******/ 		// no module.id needed
/******/ 		// no module.loaded needed
/******/ 		exports: {}
/******/ 	};
/******/ 
/******/ 	// Execute the module function
/******/ 	var threw = true;
/******/ 	try {
/******/ 		__webpack_modules__[moduleId](module, module.exports, __nccwpck_require__);
/******/ 		threw = false;
/******/ 	} finally {
/******/ 		if(threw) delete __webpack_module_cache__[moduleId];
/******/ 	}
/******/ 
/******/ 	// Return the exports of the module
/******/ 	return module.exports;
/******/ }
/******/ 
/************************************************************************/
/******/ /* webpack/runtime/asset-relocator-loader */
/******/ if (typeof __nccwpck_require__ !== 'undefined') __nccwpck_require__.ab = decodeURIComponent(new URL('.', import.meta.url).pathname).slice(import.meta.url.match(/^file:\/\/\/\w:/) ? 1 : 0, -1) + "/";
/******/ 
/************************************************************************/
var __webpack_exports__ = {};

;// CONCATENATED MODULE: external "node:worker_threads"
const external_node_worker_threads_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:worker_threads");
;// CONCATENATED MODULE: ./src/codec/coder.ts
/** The bytes of several pieces in one array of their own. */
function joined(pieces) {
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}

;// CONCATENATED MODULE: ./src/problem.ts
/** A fault that has been understood, in words for the user. Anything else that is thrown is a defect of this project. */
class problem_Problem extends Error {
    name = 'Problem';
    code;
    title;
    what;
    advice;
    constructor(details) {
        super(`${details.what} ${details.advice}`, details.cause === undefined ? undefined : { cause: details.cause });
        this.code = details.code;
        this.title = details.title;
        this.what = details.what;
        this.advice = details.advice;
    }
}
/** Several problems found by one look at the input, reported together. */
class Problems extends Error {
    name = 'Problems';
    all;
    constructor(all) {
        super(all.map((problem) => problem.message).join('\n'));
        this.all = all;
    }
}
/** Throws nothing for none, the problem itself for one, `Problems` for several. */
function throwProblems(found) {
    const [first, ...rest] = found;
    if (first === undefined)
        return;
    throw rest.length === 0 ? first : new Problems(found);
}

;// CONCATENATED MODULE: ./src/codec/faults.ts

const mebibyte = 1024 * 1024;
/**
 * Most memory that unpacking one stream may take. `xz -9` needs 65 MiB to read back; a header may ask for 4 GiB. zstd
 * has the same cap for its window, which is also the most its readers must support (RFC 8878, section 3.1.1.1.2).
 */
const maxDecoderMemory = 128 * mebibyte;
/** Thrown by decoders; becomes a `Problem` where the origin of the bytes is known. */
class DecoderFault extends Error {
    name = 'DecoderFault';
    fault;
    constructor(fault) {
        super(fault.kind === 'corrupt' ? fault.detail : 'more memory is needed than allowed');
        this.fault = fault;
    }
}
function corrupt(detail) {
    return new DecoderFault({ kind: 'corrupt', detail });
}
const endsEarly = 'it ends too early';
/** `origin` begins the sentence: "The data of hello_1.0_amd64.deb". Codes: `compressed-data-corrupt`, `decompression-limit`. */
function faultProblem(fault, origin, cause) {
    if (fault.kind === 'memory') {
        return new Problem({
            code: 'decompression-limit',
            title: 'Compressed data needs too much memory',
            what: `${origin} needs more than ${maxDecoderMemory / mebibyte} MiB of memory to unpack.`,
            advice: 'Compress it again with a smaller dictionary or window, at most what `xz -9` or `zstd --long` use.',
            ...(cause === undefined ? {} : { cause }),
        });
    }
    return new Problem({
        code: 'compressed-data-corrupt',
        title: 'Compressed data is damaged',
        what: `${origin} is damaged: ${fault.detail}.`,
        advice: 'Fetch or build the file again.',
        ...(cause === undefined ? {} : { cause }),
    });
}
/** Code: `decompression-limit`. */
function limitProblem(origin, limit) {
    return new Problem({
        code: 'decompression-limit',
        title: 'Unpacked data is too large',
        what: `${origin} unpacks to more than ${limit} bytes.`,
        advice: 'Check that it is what it should be; data that grows out of all proportion is not published.',
    });
}

;// CONCATENATED MODULE: ./src/codec/bit-reader.ts


/** Bits of a growing input, most significant first. Reading past its end throws `DecoderFault`. */
class BitReader {
    #bytes = new Uint8Array(0);
    #bit = 0;
    /** Whole and begun bytes not yet read. */
    get left() {
        return this.#bytes.length - (this.#bit >> 3);
    }
    append(pieces) {
        this.#bytes = joined([this.#bytes.subarray(this.#bit >> 3), ...pieces]);
        this.#bit &= 7;
    }
    /** `count` from 1 to 24. */
    bits(count) {
        const at = this.#bit >> 3;
        const bytes = this.#bytes;
        if (this.#bit + count > bytes.length * 8)
            throw corrupt(endsEarly);
        const word = (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>>
            0;
        const value = (word << (this.#bit & 7)) >>> (32 - count);
        this.#bit += count;
        return value;
    }
    /** 32 bits, unsigned. */
    word() {
        return this.bits(16) * 65_536 + this.bits(16);
    }
    /** Streams begin on whole bytes. */
    align() {
        this.#bit = (this.#bit + 7) & ~7;
    }
}

;// CONCATENATED MODULE: ./src/codec/bzip2-block.ts

/** One block of bzip2, after the reference implementation (bzip2 1.0.8: decompress.c, huffman.c). */
const groupSize = 50;
const maxSelectors = 18_002;
const maxCodeLength = 20;
/** A canonical Huffman code: for each length the largest code of that length and where its symbols begin. */
class HuffmanCode {
    #limits = new Int32Array(maxCodeLength + 2).fill(-1);
    #offsets = new Int32Array(maxCodeLength + 2);
    #symbols;
    #shortest;
    constructor(lengths) {
        this.#symbols = new Uint16Array(lengths.length);
        this.#shortest = lengths.reduce((least, length) => Math.min(least, length), maxCodeLength);
        let code = 0;
        let index = 0;
        for (let length = this.#shortest; length <= maxCodeLength; length += 1) {
            const first = index;
            for (let symbol = 0; symbol < lengths.length; symbol += 1) {
                if (lengths[symbol] === length)
                    this.#symbols[index++] = symbol;
            }
            this.#offsets[length] = first - code;
            code += index - first;
            this.#limits[length] = code - 1;
            code <<= 1;
        }
    }
    read(reader) {
        let length = this.#shortest;
        let code = reader.bits(length);
        while (code > (this.#limits[length] ?? -1)) {
            if (length === maxCodeLength)
                throw corrupt('it holds a code that stands for nothing');
            length += 1;
            code = (code << 1) | reader.bits(1);
        }
        const symbol = this.#symbols[code + (this.#offsets[length] ?? 0)];
        if (symbol === undefined)
            throw corrupt('it holds a code that stands for nothing');
        return symbol;
    }
}
/** CRC-32 with the most significant bit first: not the one of zlib. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24;
    for (let bit = 0; bit < 8; bit += 1)
        crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
    return crc;
});
/** A block whose codes have been read: bytes still to be walked through in the order of the original text. */
class Block {
    checksum;
    #links;
    #position;
    #left;
    #crc = 0xffff_ffff;
    #byte = -1;
    #run = 0;
    /** Repetitions of `#byte` that are still to be written. */
    #owed = 0;
    /** `bytes` is the last column of the sorted rotations; `origin` the row that is the text itself. */
    constructor(bytes, origin, checksum) {
        const starts = new Uint32Array(256);
        for (const byte of bytes)
            starts[byte] = (starts[byte] ?? 0) + 1;
        let sum = 0;
        for (let byte = 0; byte < 256; byte += 1) {
            const count = starts[byte] ?? 0;
            starts[byte] = sum;
            sum += count;
        }
        // Upper 24 bits: the row that follows; lower 8: the byte of this row.
        const links = new Uint32Array(bytes.length);
        for (let row = 0; row < bytes.length; row += 1) {
            const byte = bytes[row] ?? 0;
            links[row] = (links[row] ?? 0) | byte;
            const next = starts[byte] ?? 0;
            starts[byte] = next + 1;
            links[next] = (links[next] ?? 0) | (row << 8);
        }
        this.#links = links;
        this.checksum = checksum;
        this.#position = (links[origin] ?? 0) >>> 8;
        this.#left = bytes.length;
    }
    /** Fills `room` as far as the block goes; returns the bytes written, fewer than the room only at the block's end. */
    write(room) {
        let at = 0;
        let crc = this.#crc;
        while (at < room.length) {
            if (this.#owed > 0)
                this.#owed -= 1;
            else if (this.#left === 0)
                break;
            else if (!this.#next())
                continue;
            room[at++] = this.#byte;
            crc = (crc << 8) ^ (crcTable[(crc >>> 24) ^ this.#byte] ?? 0);
        }
        this.#crc = crc;
        if (at < room.length && ~crc >>> 0 !== this.checksum)
            throw corrupt('the checksum of a block does not fit');
        return at;
    }
    /** Four equal bytes are followed by the number of further ones. False when the byte read was such a number. */
    #next() {
        const link = this.#links[this.#position] ?? 0;
        const byte = link & 0xff;
        this.#position = link >>> 8;
        this.#left -= 1;
        if (this.#run === 4) {
            this.#owed = byte;
            this.#run = 0;
            return false;
        }
        this.#run = byte === this.#byte ? this.#run + 1 : 1;
        this.#byte = byte;
        return true;
    }
}
/** Reads a block after its magic number. `room` is as large as the block may be before run lengths are undone; free again afterwards. */
function readBlock(reader, room) {
    const checksum = reader.word();
    if (reader.bits(1) === 1)
        throw corrupt('its blocks are randomised, as no bzip2 since 1999 writes them');
    const origin = reader.bits(24);
    const front = readAlphabet(reader);
    const groups = reader.bits(3);
    const selectorCount = reader.bits(15);
    if (groups < 2 || groups > 6 || selectorCount === 0)
        throw corrupt('the header of a block makes no sense');
    const selectors = readSelectors(reader, groups, selectorCount);
    const codes = Array.from({ length: groups }, () => new HuffmanCode(readLengths(reader, front.length + 2)));
    const bytes = readBytes(reader, front, codes, selectors, room);
    if (origin >= bytes.length)
        throw corrupt('the header of a block makes no sense');
    return new Block(bytes, origin, checksum);
}
function readAlphabet(reader) {
    const used = [];
    const rows = reader.bits(16);
    for (let row = 0; row < 16; row += 1) {
        if ((rows & (0x8000 >> row)) === 0)
            continue;
        const columns = reader.bits(16);
        for (let column = 0; column < 16; column += 1)
            if (columns & (0x8000 >> column))
                used.push(row * 16 + column);
    }
    if (used.length === 0)
        throw corrupt('a block uses no bytes');
    return Uint8Array.from(used);
}
function readSelectors(reader, groups, count) {
    const front = Array.from({ length: groups }, (_, group) => group);
    // Some encoders write more than can be used; bzip2 1.0.8 reads over them.
    const selectors = new Uint8Array(Math.min(count, maxSelectors));
    for (let index = 0; index < count; index += 1) {
        let position = 0;
        while (position < groups && reader.bits(1) === 1)
            position += 1;
        const [group] = front.splice(position, 1);
        if (group === undefined)
            throw corrupt('the header of a block makes no sense');
        front.unshift(group);
        if (index < selectors.length)
            selectors[index] = group;
    }
    return selectors;
}
function readLengths(reader, symbols) {
    const lengths = new Uint8Array(symbols);
    let length = reader.bits(5);
    for (let symbol = 0; symbol < symbols; symbol += 1) {
        for (;;) {
            if (length < 1 || length > maxCodeLength)
                throw corrupt('a code is longer than bzip2 allows');
            if (reader.bits(1) === 0)
                break;
            length += reader.bits(1) === 0 ? 1 : -1;
        }
        lengths[symbol] = length;
    }
    return lengths;
}
function readBytes(reader, front, codes, selectors, bytes) {
    const limit = bytes.length;
    const end = front.length + 1;
    let size = 0;
    let run = 0;
    let weight = 1;
    let symbols = 0;
    let code;
    for (;;) {
        if (symbols % groupSize === 0)
            code = codes[selectors[symbols / groupSize] ?? codes.length];
        if (code === undefined)
            throw corrupt('a block is longer than its header says');
        symbols += 1;
        const symbol = code.read(reader);
        if (symbol <= 1) {
            // Run lengths in bijective base 2: the two lowest symbols are its digits.
            run += weight << symbol;
            weight <<= 1;
            if (run > limit)
                throw corrupt('a block is longer than its stream allows');
            continue;
        }
        if (run > 0) {
            if (size + run > limit)
                throw corrupt('a block is longer than its stream allows');
            bytes.fill(front[0] ?? 0, size, size + run);
            size += run;
            run = 0;
            weight = 1;
        }
        if (symbol === end)
            return bytes.subarray(0, size);
        if (size === limit)
            throw corrupt('a block is longer than its stream allows');
        const byte = front[symbol - 1] ?? 0;
        front.copyWithin(1, 0, symbol - 1);
        front[0] = byte;
        bytes[size++] = byte;
    }
}

;// CONCATENATED MODULE: ./src/codec/bzip2.ts



const blockUnit = 100_000;
/**
 * With this much input at hand a block cannot run short: 900 000 symbols of at most 20 bits, the selectors, the code
 * lengths and the headers of the stream around it.
 */
const blockLookahead = 2_400_000;
const maxStepOutput = 1024 * 1024;
const blockMagic = 0x314159;
const blockMagicRest = 0x265359;
const endMagic = 0x177245;
const endMagicRest = 0x385090;
/**
 * Decodes bzip2, any number of streams one after the other, with every checksum. It is here because the libraries on npm
 * decode in one go, or without types, checks or upkeep; .deb files with data.tar.bz2 are old and few.
 */
class Bzip2Decoder {
    #reader = new BitReader();
    #pieces = [];
    #held = 0;
    #blockLimit;
    #block;
    #checksum = 0;
    #streams = 0;
    /** Kept from block to block: a file of many tiny blocks would spend its time on making room for large ones. */
    #symbols = new Uint8Array(0);
    #room = new Uint8Array(maxStepOutput);
    step(input, last) {
        if (input !== undefined) {
            this.#pieces.push(input);
            this.#held += input.length;
        }
        if (!last && this.#reader.left + this.#held < blockLookahead)
            return { output: new Uint8Array(0), more: false };
        if (this.#held > 0)
            this.#reader.append(this.#pieces);
        this.#pieces = [];
        this.#held = 0;
        return this.#decode(last);
    }
    release() { }
    /** Up to one block, as far as the output of one step goes. */
    #decode(last) {
        this.#block ??= this.#nextBlock(last);
        if (this.#block === undefined)
            return { output: new Uint8Array(0), more: false };
        const written = this.#block.write(this.#room);
        const output = this.#room.slice(0, written);
        if (written === this.#room.length)
            return { output, more: true };
        this.#block = undefined;
        return { output, more: last || this.#reader.left >= blockLookahead };
    }
    /** Reads on to the next block; undefined at the end of the data, or when more is needed to be sure of a whole block. */
    #nextBlock(last) {
        const reader = this.#reader;
        while (last || reader.left >= blockLookahead) {
            this.#blockLimit ??= this.#streamHeader();
            if (this.#blockLimit === undefined)
                return undefined;
            const magic = reader.bits(24);
            const rest = reader.bits(24);
            if (magic === blockMagic && rest === blockMagicRest) {
                const before = this.#checksum;
                const block = readBlock(reader, this.#symbols.subarray(0, this.#blockLimit));
                this.#checksum = ((before << 1) | (before >>> 31)) ^ block.checksum;
                return block;
            }
            if (magic !== endMagic || rest !== endMagicRest)
                throw corrupt('neither a block nor an end stands where one must');
            if (reader.word() !== this.#checksum >>> 0)
                throw corrupt('the checksum of the whole does not fit');
            reader.align();
            this.#checksum = 0;
            this.#blockLimit = undefined;
        }
        return undefined;
    }
    /** The size that blocks may have; undefined when no further stream follows. */
    #streamHeader() {
        const reader = this.#reader;
        if (this.#streams > 0 && reader.left === 0)
            return undefined;
        this.#streams += 1;
        const [b, z, h, level] = [reader.bits(8), reader.bits(8), reader.bits(8), reader.bits(8) - 0x30];
        if (b !== 0x42 || z !== 0x5a || h !== 0x68 || level < 1 || level > 9) {
            throw corrupt(this.#streams === 1 ? 'it is not bzip2 data' : 'something that is not bzip2 follows its end');
        }
        const limit = level * blockUnit;
        if (this.#symbols.length < limit)
            this.#symbols = new Uint8Array(limit);
        return limit;
    }
}
function openBzip2Decoder() {
    return new Bzip2Decoder();
}

;// CONCATENATED MODULE: external "node:fs"
const external_node_fs_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");
;// CONCATENATED MODULE: external "node:crypto"
const external_node_crypto_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");
;// CONCATENATED MODULE: ./src/codec/sums.ts

/** Takes the bytes of a file as they come. */
class Summing {
    #md5 = (0,external_node_crypto_namespaceObject.createHash)('md5');
    #sha256 = (0,external_node_crypto_namespaceObject.createHash)('sha256');
    #partSize;
    #parts = [];
    #part;
    constructor(partSize) {
        this.#partSize = partSize ?? 0;
    }
    update(bytes) {
        this.#md5.update(bytes);
        this.#sha256.update(bytes);
        if (this.#partSize === 0)
            return;
        for (let at = 0; at < bytes.length;) {
            const part = this.#part ?? { left: this.#partSize, sha256: (0,external_node_crypto_namespaceObject.createHash)('sha256') };
            const piece = bytes.subarray(at, at + part.left);
            part.sha256.update(piece);
            part.left -= piece.length;
            this.#part = part;
            if (part.left === 0)
                this.#endPart();
            at += piece.length;
        }
    }
    end() {
        this.#endPart();
        return { md5: this.#md5.digest('hex'), sha256: this.#sha256.digest('hex'), parts: this.#parts };
    }
    #endPart() {
        if (this.#part === undefined)
            return;
        this.#parts.push(this.#part.sha256.digest('hex'));
        this.#part = undefined;
    }
}

;// CONCATENATED MODULE: ./src/codec/file-sums.ts


const chunkSize = 1024 ** 2;
/** The bound of one step: about 30 ms. */
const stepSize = 8 * chunkSize;
/** Sums of a file, as a coder: it takes no input, since it reads the file by itself, and its output is what it has found, as JSON. */
function openFileSums({ fd, size, partSize }) {
    const summing = new Summing(partSize);
    const chunk = Buffer.allocUnsafeSlow(chunkSize);
    let position = 0;
    const found = () => {
        const until = Math.min(size, position + stepSize);
        try {
            while (position < until) {
                const read = (0,external_node_fs_namespaceObject.readSync)(fd, chunk, 0, Math.min(chunkSize, size - position), position);
                if (read === 0)
                    return { endsEarly: true };
                summing.update(chunk.subarray(0, read));
                position += read;
            }
        }
        catch (error) {
            return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' };
        }
        return position < size ? undefined : { sums: summing.end() };
    };
    const step = () => {
        const now = found();
        const text = now === undefined ? '' : JSON.stringify(now);
        return { output: new TextEncoder().encode(text), more: now === undefined };
    };
    return { step, release: () => { } };
}
/**
 * The sums of a whole file, off the main thread; undefined when it ends before `size`. The descriptor must stay open until this settles.
 * Errors have the `code` of the system's.
 */
async function sumFile(file, pool) {
    const session = pool.open(file);
    try {
        for (;;) {
            const { output, more } = await session.step(undefined, true);
            if (more)
                continue;
            const found = JSON.parse(new TextDecoder().decode(output));
            if ('code' in found)
                throw Object.assign(new Error('A file cannot be read.'), { code: found.code });
            return 'sums' in found ? found.sums : undefined;
        }
    }
    finally {
        session.close();
    }
}

;// CONCATENATED MODULE: external "node:module"
const external_node_module_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:module");
;// CONCATENATED MODULE: external "node:path"
const external_node_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");
;// CONCATENATED MODULE: ./node_modules/node-liblzma/lib/wasm/liblzma.js

var createLZMA = (() => {
  var _scriptDir = import.meta.url;
  
  return (
function(moduleArg = {}) {

var b=moduleArg,h,u;b.ready=new Promise((a,c)=>{h=a;u=c});var w=Object.assign({},b),x="object"==typeof window,y="function"==typeof importScripts,z="",A;if(x||y)y?z=self.location.href:"undefined"!=typeof document&&document.currentScript&&(z=document.currentScript.src),_scriptDir&&(z=_scriptDir),0!==z.indexOf("blob:")?z=z.substr(0,z.replace(/[?#].*/,"").lastIndexOf("/")+1):z="",y&&(A=a=>{var c=new XMLHttpRequest;c.open("GET",a,!1);c.responseType="arraybuffer";c.send(null);return new Uint8Array(c.response)});
var B=b.printErr||console.error.bind(console);Object.assign(b,w);w=null;var C;b.wasmBinary&&(C=b.wasmBinary);"object"!=typeof WebAssembly&&D("no native wasm support detected");var E,F=!1,G,I,J,K,L,M,N,O;
function P(){var a=E.buffer;b.HEAP8=G=new Int8Array(a);b.HEAP16=J=new Int16Array(a);b.HEAPU8=I=new Uint8Array(a);b.HEAPU16=new Uint16Array(a);b.HEAP32=K=new Int32Array(a);b.HEAPU32=L=new Uint32Array(a);b.HEAPF32=M=new Float32Array(a);b.HEAPF64=O=new Float64Array(a);b.HEAP64=N=new BigInt64Array(a);b.HEAPU64=new BigUint64Array(a)}var Q=[],R=[],aa=[];function ba(){var a=b.preRun.shift();Q.unshift(a)}var S=0,T=null,U=null;
function D(a){b.onAbort?.(a);a="Aborted("+a+")";B(a);F=!0;a=new WebAssembly.RuntimeError(a+". Build with -sASSERTIONS for more info.");u(a);throw a;}var ca=a=>a.startsWith("data:application/octet-stream;base64,"),V;if(b.locateFile){if(V="liblzma.wasm",!ca(V)){var da=V;V=b.locateFile?b.locateFile(da,z):z+da}}else V=__nccwpck_require__.ab + "liblzma.wasm";function ea(a){if(a==V&&C)return new Uint8Array(C);if(A)return A(a);throw"both async and sync fetching of the wasm failed";}
function fa(a){return C||!x&&!y||"function"!=typeof fetch?Promise.resolve().then(()=>ea(a)):fetch(a,{credentials:"same-origin"}).then(c=>{if(!c.ok)throw"failed to load wasm binary file at '"+a+"'";return c.arrayBuffer()}).catch(()=>ea(a))}function ha(a,c,d){return fa(a).then(e=>WebAssembly.instantiate(e,c)).then(e=>e).then(d,e=>{B(`failed to asynchronously prepare wasm: ${e}`);D(e)})}
function ia(a,c){var d=__nccwpck_require__.ab + "liblzma.wasm";return C||"function"!=typeof WebAssembly.instantiateStreaming||ca(d)||"function"!=typeof fetch?ha(d,a,c):fetch(d,{credentials:"same-origin"}).then(e=>WebAssembly.instantiateStreaming(e,a).then(c,function(p){B(`wasm streaming compile failed: ${p}`);B("falling back to ArrayBuffer instantiation");return ha(d,a,c)}))}
var W=a=>{for(;0<a.length;)a.shift()(b)},ja="undefined"!=typeof TextDecoder?new TextDecoder("utf8"):void 0,ma=(a,c,d,e)=>{var p={string:f=>{var m=0;if(null!==f&&void 0!==f&&0!==f){for(var g=m=0;g<f.length;++g){var l=f.charCodeAt(g);127>=l?m++:2047>=l?m+=2:55296<=l&&57343>=l?(m+=4,++g):m+=3}var k=m+1;g=m=X(k);l=I;if(0<k){k=g+k-1;for(var v=0;v<f.length;++v){var n=f.charCodeAt(v);if(55296<=n&&57343>=n){var oa=f.charCodeAt(++v);n=65536+((n&1023)<<10)|oa&1023}if(127>=n){if(g>=k)break;l[g++]=n}else{if(2047>=
n){if(g+1>=k)break;l[g++]=192|n>>6}else{if(65535>=n){if(g+2>=k)break;l[g++]=224|n>>12}else{if(g+3>=k)break;l[g++]=240|n>>18;l[g++]=128|n>>12&63}l[g++]=128|n>>6&63}l[g++]=128|n&63}}l[g]=0}}return m},array:f=>{var m=X(f.length);G.set(f,m);return m}};a=b["_"+a];var q=[],t=0;if(e)for(var r=0;r<e.length;r++){var H=p[d[r]];H?(0===t&&(t=ka()),q[r]=H(e[r])):q[r]=e[r]}d=a.apply(null,q);return d=function(f){0!==t&&la(t);if("string"===c)if(f){for(var m=I,g=f+NaN,l=f;m[l]&&!(l>=g);)++l;if(16<l-f&&m.buffer&&ja)f=
ja.decode(m.subarray(f,l));else{for(g="";f<l;){var k=m[f++];if(k&128){var v=m[f++]&63;if(192==(k&224))g+=String.fromCharCode((k&31)<<6|v);else{var n=m[f++]&63;k=224==(k&240)?(k&15)<<12|v<<6|n:(k&7)<<18|v<<12|n<<6|m[f++]&63;65536>k?g+=String.fromCharCode(k):(k-=65536,g+=String.fromCharCode(55296|k>>10,56320|k&1023))}}else g+=String.fromCharCode(k)}f=g}}else f="";else f="boolean"===c?!!f:f;return f}(d)},na={a:a=>{var c=I.length;a>>>=0;if(268435456<a)return!1;for(var d=1;4>=d;d*=2){var e=c*(1+.2/d);
e=Math.min(e,a+100663296);var p=Math;e=Math.max(a,e);a:{p=(p.min.call(p,268435456,e+(65536-e%65536)%65536)-E.buffer.byteLength+65535)/65536;try{E.grow(p);P();var q=1;break a}catch(t){}q=void 0}if(q)return!0}return!1}},Y=function(){function a(d){Y=d.exports;E=Y.b;P();R.unshift(Y.c);S--;b.monitorRunDependencies?.(S);0==S&&(null!==T&&(clearInterval(T),T=null),U&&(d=U,U=null,d()));return Y}var c={a:na};S++;b.monitorRunDependencies?.(S);if(b.instantiateWasm)try{return b.instantiateWasm(c,a)}catch(d){B(`Module.instantiateWasm callback failed with error: ${d}`),
u(d)}ia(c,function(d){a(d.instance)}).catch(u);return{}}();b._lzma_check_is_supported=a=>(b._lzma_check_is_supported=Y.d)(a);b._lzma_version_string=()=>(b._lzma_version_string=Y.e)();b._lzma_code=(a,c)=>(b._lzma_code=Y.f)(a,c);b._lzma_end=a=>(b._lzma_end=Y.g)(a);b._lzma_memusage=a=>(b._lzma_memusage=Y.h)(a);b._lzma_memlimit_set=(a,c)=>(b._lzma_memlimit_set=Y.i)(a,c);b._lzma_index_end=(a,c)=>(b._lzma_index_end=Y.j)(a,c);b._lzma_index_uncompressed_size=a=>(b._lzma_index_uncompressed_size=Y.k)(a);
b._lzma_easy_buffer_encode=(a,c,d,e,p,q,t,r)=>(b._lzma_easy_buffer_encode=Y.l)(a,c,d,e,p,q,t,r);b._lzma_easy_encoder=(a,c,d)=>(b._lzma_easy_encoder=Y.m)(a,c,d);b._lzma_stream_buffer_encode=(a,c,d,e,p,q,t,r)=>(b._lzma_stream_buffer_encode=Y.n)(a,c,d,e,p,q,t,r);b._lzma_auto_decoder=(a,c,d)=>(b._lzma_auto_decoder=Y.o)(a,c,d);b._lzma_index_decoder=(a,c,d)=>(b._lzma_index_decoder=Y.p)(a,c,d);b._lzma_stream_buffer_decode=(a,c,d,e,p,q,t,r,H)=>(b._lzma_stream_buffer_decode=Y.q)(a,c,d,e,p,q,t,r,H);
b._lzma_stream_decoder=(a,c,d)=>(b._lzma_stream_decoder=Y.r)(a,c,d);b._malloc=a=>(b._malloc=Y.s)(a);b._free=a=>(b._free=Y.t)(a);var ka=()=>(ka=Y.u)(),la=a=>(la=Y.v)(a),X=a=>(X=Y.w)(a);b.ccall=ma;b.cwrap=(a,c,d,e)=>{var p=!d||d.every(q=>"number"===q||"boolean"===q);return"string"!==c&&p&&!e?b["_"+a]:function(){return ma(a,c,d,arguments,e)}};
b.setValue=function(a,c,d="i8"){d.endsWith("*")&&(d="*");switch(d){case "i1":G[a>>0]=c;break;case "i8":G[a>>0]=c;break;case "i16":J[a>>1]=c;break;case "i32":K[a>>2]=c;break;case "i64":N[a>>3]=BigInt(c);break;case "float":M[a>>2]=c;break;case "double":O[a>>3]=c;break;case "*":L[a>>2]=c;break;default:D(`invalid type for setValue: ${d}`)}};
b.getValue=function(a,c="i8"){c.endsWith("*")&&(c="*");switch(c){case "i1":return G[a>>0];case "i8":return G[a>>0];case "i16":return J[a>>1];case "i32":return K[a>>2];case "i64":return N[a>>3];case "float":return M[a>>2];case "double":return O[a>>3];case "*":return L[a>>2];default:D(`invalid type for getValue: ${c}`)}};var Z;U=function pa(){Z||qa();Z||(U=pa)};
function qa(){function a(){if(!Z&&(Z=!0,b.calledRun=!0,!F)){W(R);h(b);if(b.onRuntimeInitialized)b.onRuntimeInitialized();if(b.postRun)for("function"==typeof b.postRun&&(b.postRun=[b.postRun]);b.postRun.length;){var c=b.postRun.shift();aa.unshift(c)}W(aa)}}if(!(0<S)){if(b.preRun)for("function"==typeof b.preRun&&(b.preRun=[b.preRun]);b.preRun.length;)ba();W(Q);0<S||(b.setStatus?(b.setStatus("Running..."),setTimeout(function(){setTimeout(function(){b.setStatus("")},1);a()},1)):a())}}
if(b.preInit)for("function"==typeof b.preInit&&(b.preInit=[b.preInit]);0<b.preInit.length;)b.preInit.pop()();qa();


  return moduleArg.ready
}
);
})();
;
/* harmony default export */ const liblzma = (createLZMA);
;// CONCATENATED MODULE: ./src/codec/liblzma.ts






const run = 0;
const finish = 3;
const ok = 0;
const streamEnd = 1;
const memoryError = 5;
const memoryLimitError = 6;
const formatError = 7;
const optionsError = 8;
const dataError = 9;
const bufferError = 10;
const concatenated = 0x08;
const checkCrc64 = 4;
/** The first byte of an .xz file, which liblzma's auto decoder reads as well as .lzma. */
const xzStart = 0xfd;
/** What `xz` does without options. */
const preset = 6;
/** struct lzma_stream on wasm32. */
const streamSize = 96;
const nextIn = 0;
const availIn = 4;
const nextOut = 16;
const availOut = 20;
const kibibyte = 1024;
const inputRoom = 64 * kibibyte;
const outputRoom = 256 * kibibyte;
/** The bounds of one step: about 0.1 s of encoding or 0.05 s of decoding. */
const maxStepInput = 256 * kibibyte;
const liblzma_maxStepOutput = 1024 * kibibyte;
/** An instance's memory never shrinks; one that had to grow past this for a large dictionary is not kept. */
const maxIdleMemory = 32 * 1024 * kibibyte;
/** ncc writes the file beside the bundle of the worker; in the source tree it is where npm put it. */
const wasmBinary = (0,external_node_fs_namespaceObject.readFileSync)(import.meta.filename.endsWith('.ts')
    ? (0,external_node_module_namespaceObject.createRequire)(import.meta.filename).resolve('node-liblzma/wasm/liblzma.wasm')
    : (0,external_node_path_namespaceObject.join)(import.meta.dirname, 'liblzma.wasm'));
/** One wasm instance with its own memory, the struct and two buffers in it; serves one coder after another. */
class Instance {
    lib;
    stream;
    input;
    output;
    constructor(lib) {
        this.lib = lib;
        this.stream = lib._malloc(streamSize);
        this.input = lib._malloc(inputRoom);
        this.output = lib._malloc(outputRoom);
        this.#clear();
    }
    /** Frees what the coder took. A coder that was given up leaves input behind, which the next one must not find. */
    end() {
        this.lib._lzma_end(this.stream);
        this.#clear();
    }
    get(field) {
        return this.lib.getValue(this.stream + field, 'i32');
    }
    set(field, value) {
        this.lib.setValue(this.stream + field, value, 'i32');
    }
    #clear() {
        this.lib.HEAPU8.fill(0, this.stream, this.stream + streamSize);
    }
}
const idle = {
    encoder: undefined,
    decoder: undefined,
};
async function takeInstance(role) {
    const kept = idle[role];
    idle[role] = undefined;
    if (kept !== undefined)
        return kept;
    const lib = await liblzma({ wasmBinary });
    return new Instance(lib);
}
class LzmaCoder {
    #role;
    #instance;
    #waiting = new Uint8Array(0);
    #refusedStart;
    #ended = false;
    /** `refusedStart`: a first byte that liblzma would take and the format does not. */
    constructor(role, instance, refusedStart) {
        this.#role = role;
        this.#instance = instance;
        this.#refusedStart = refusedStart;
    }
    step(input, last) {
        if (input !== undefined && input.length > 0) {
            if (input[0] === this.#refusedStart)
                throw failure(formatError);
            this.#refusedStart = undefined;
            this.#waiting = input;
        }
        const pieces = [];
        let consumed = 0;
        let produced = 0;
        while (!this.#ended) {
            if (consumed >= maxStepInput || produced >= liblzma_maxStepOutput)
                return { output: joined(pieces), more: true };
            consumed += this.#load();
            const all = this.#waiting.length === 0;
            const piece = this.#code(all && last ? finish : run);
            produced += piece.length;
            if (piece.length > 0)
                pieces.push(piece);
            // Room left in the output and nothing left in the input: only more input can bring more output.
            if (!last && all && piece.length < outputRoom && this.#instance.get(availIn) === 0)
                break;
        }
        return { output: joined(pieces), more: false };
    }
    release() {
        this.#instance.end();
        // An encoder always asks for the same memory, so what it grew to is what the next one needs.
        if (this.#role === 'encoder' || this.#instance.lib.HEAPU8.length <= maxIdleMemory)
            idle[this.#role] = this.#instance;
    }
    /** Refills the wasm side's empty input; returns how many bytes went in. */
    #load() {
        if (this.#waiting.length === 0 || this.#instance.get(availIn) > 0)
            return 0;
        const piece = this.#waiting.subarray(0, inputRoom);
        this.#waiting = this.#waiting.subarray(piece.length);
        this.#instance.lib.HEAPU8.set(piece, this.#instance.input);
        this.#instance.set(nextIn, this.#instance.input);
        this.#instance.set(availIn, piece.length);
        return piece.length;
    }
    #code(action) {
        const { lib, stream, output } = this.#instance;
        this.#instance.set(nextOut, output);
        this.#instance.set(availOut, outputRoom);
        const answer = lib._lzma_code(stream, action);
        if (answer === streamEnd)
            this.#ended = true;
        else if (answer !== ok && !(answer === bufferError && action === run))
            throw failure(answer);
        return lib.HEAPU8.slice(output, output + outputRoom - this.#instance.get(availOut));
    }
}
function failure(answer) {
    switch (answer) {
        case memoryError:
        case memoryLimitError:
            return new DecoderFault({ kind: 'memory' });
        case formatError:
            return corrupt('it is not in the format that its name says');
        case optionsError:
            return corrupt('its header asks for something that the format does not know');
        case dataError:
            return corrupt('its contents do not fit their checksums, or something follows their end');
        case bufferError:
            return corrupt(endsEarly);
        default:
            return new Error(`liblzma answered ${answer}.`);
    }
}
/** Encodes one .xz stream of one block (none for no input), check CRC64, preset 6. */
async function openXzEncoder() {
    const instance = await takeInstance('encoder');
    const answer = instance.lib._lzma_easy_encoder(instance.stream, preset, checkCrc64);
    if (answer !== ok)
        throw failure(answer);
    return new LzmaCoder('encoder', instance);
}
/** Decodes .xz (any number of streams and blocks, padding between them) or .lzma; refuses whatever else follows. */
async function openLzmaDecoder(format) {
    const instance = await takeInstance('decoder');
    const open = format === 'xz' ? instance.lib._lzma_stream_decoder : instance.lib._lzma_auto_decoder;
    const answer = open(instance.stream, BigInt(maxDecoderMemory), concatenated);
    if (answer !== ok)
        throw failure(answer);
    return new LzmaCoder('decoder', instance, format === 'lzma' ? xzStart : undefined);
}

;// CONCATENATED MODULE: ./src/codec/worker.ts
/** The thread behind `WorkerPool`: coders by session, one step a message. An entry of its own: dist/worker/index.js. */





if (external_node_worker_threads_namespaceObject.parentPort === null)
    throw new Error('This file is the entry of a worker thread; it does nothing by itself.');
const port = external_node_worker_threads_namespaceObject.parentPort;
const openers = {
    'xz-encode': openXzEncoder,
    'xz-decode': () => openLzmaDecoder('xz'),
    'lzma-decode': () => openLzmaDecoder('lzma'),
    'bz2-decode': openBzip2Decoder,
};
const coders = new Map();
port.on('message', (request) => {
    switch (request.kind) {
        case 'open':
            worker_open(request.session, request.coder);
            break;
        case 'step':
            void answer(request);
            break;
        case 'close':
            void worker_close(request.session);
            break;
    }
});
function worker_open(session, wanted) {
    const coder = Promise.resolve(typeof wanted === 'string' ? openers[wanted]() : openFileSums(wanted));
    // The first step tells of a failure; until then it must not end the thread as an unhandled one.
    coder.catch(() => undefined);
    coders.set(session, coder);
}
async function answer(request) {
    const { session } = request;
    try {
        const coder = await coders.get(session);
        if (coder === undefined)
            throw new Error(`Codec session ${session} is not open.`);
        const step = coder.step(request.input, request.last);
        reply({ session, step }, [step.output.buffer]);
    }
    catch (error) {
        reply(error instanceof DecoderFault ? { session, fault: error.fault } : { session, defect: error });
    }
}
async function worker_close(session) {
    const coder = coders.get(session);
    coders.delete(session);
    await coder?.then((opened) => opened.release(), () => undefined);
}
function reply(message, moved = []) {
    port.postMessage(message, moved);
}

