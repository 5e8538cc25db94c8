/** Of this action: the user agent names it, so that a server's log tells who wrote. The release sets it, together with package.json. */
export const version = '0.1.0';
